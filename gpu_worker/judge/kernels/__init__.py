"""Judging kernels as such: findings, launches, counts, budgets and advice."""
