"""The admin of the courses: authors edit here what `load_course` loads from files."""

from __future__ import annotations

from .chapters import ChapterAdmin, ChapterRevisionAdmin, CourseAdmin, FormulaAdmin, QuestionAdmin

__all__ = [
    "ChapterAdmin",
    "ChapterRevisionAdmin",
    "CourseAdmin",
    "FormulaAdmin",
    "QuestionAdmin",
]
