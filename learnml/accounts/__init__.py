"""Signing up and in, passwords and email addresses: what this site does otherwise than allauth."""
