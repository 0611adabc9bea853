"""The grader's pages in the admin; importing a module registers its models."""

from . import exercises, operations, regrades, submissions

__all__ = ["exercises", "operations", "regrades", "submissions"]
