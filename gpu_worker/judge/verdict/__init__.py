"""Reads the output of a run strictly, and compares it with the expected results."""
