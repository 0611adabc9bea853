"""The grader's pages: thin views and their form."""
