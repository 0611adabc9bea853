"""Sign-up, sign-in, passwords and email addresses: where this site differs from allauth."""
