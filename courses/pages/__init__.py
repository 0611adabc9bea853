"""The reading pages: views, what they query, and what is kept of them between requests."""
