"""The admin of the courses, where authors edit what files load, and of accounts."""

from __future__ import annotations

from .chapters import ChapterAdmin, ChapterRevisionAdmin, CourseAdmin, FormulaAdmin, QuestionAdmin
from .people import AccountAdmin, RestrictedEmailAddressAdmin, RestrictedGroupAdmin

__all__ = [
    "AccountAdmin",
    "ChapterAdmin",
    "ChapterRevisionAdmin",
    "CourseAdmin",
    "FormulaAdmin",
    "QuestionAdmin",
    "RestrictedEmailAddressAdmin",
    "RestrictedGroupAdmin",
]
