"""Runs and times submissions in the sandbox, with their kernels built beside it."""
