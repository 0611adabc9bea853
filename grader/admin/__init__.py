"""The grader's pages in the admin; importing a module registers its models."""

from . import exercises, extensions, operations, regrades, submissions

__all__ = ["exercises", "extensions", "operations", "regrades", "submissions"]
