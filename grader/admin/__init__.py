"""The grader's pages in the admin; importing a module registers its models."""

from . import audit, exercises, extensions, operations, regrades, submissions

__all__ = ["audit", "exercises", "extensions", "operations", "regrades", "submissions"]
