"""What is judged of kernels alone: launches, counts, budgets, advice."""
