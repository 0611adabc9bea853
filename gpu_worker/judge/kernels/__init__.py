"""What is judged about kernels themselves: findings, launches, counts, budgets and advice."""
