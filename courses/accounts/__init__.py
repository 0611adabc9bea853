"""The account's own pages: its name, and deleting it."""
