"""Exercises are published by a check, which workers do a few steps at a time."""
