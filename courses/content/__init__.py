"""Chapters as files: read, checked, written into tables, and exported to the same bytes."""
