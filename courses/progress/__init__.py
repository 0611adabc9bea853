"""What a learner must have done for a chapter to count as completed."""
