"""What is run and what it should give: cases drawn from their plans, and the reference."""
