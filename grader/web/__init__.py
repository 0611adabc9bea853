"""The grader's pages: thin views, the form, and what a submission's page shows."""
