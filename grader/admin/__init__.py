"""The grader's pages in the admin; importing a module registers its models."""

from . import exercises, operations, submissions

__all__ = ["exercises", "operations", "submissions"]
