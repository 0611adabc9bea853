"""The report of a grading: what the learner may see, and what is kept for later."""
