"""Inputs and expected results: cases drawn from their plans, and the reference."""
