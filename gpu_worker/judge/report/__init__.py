"""What a learner reads of a grading, and what is kept of it."""
