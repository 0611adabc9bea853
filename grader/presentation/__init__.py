"""What learners are shown of a submission: texts and values that pages and the REST API share."""
