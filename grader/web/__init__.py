"""The grader's pages: views, forms, and the comparison of sources."""
