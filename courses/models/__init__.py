"""The courses' tables, split by noun."""

from __future__ import annotations

from .account import AccountName, DeletedAccount
from .course import Chapter, Course, OldChapterSlug, OldCourseSlug
from .edition import Edition
from .figure import Figure
from .held import HeldForm
from .identity import SlugTakenError
from .learner import ChapterCompletion, Learner, QuizAttempt, RequirementMet
from .parts import DerivationStep, Formula, FormulaSymbol, Listing, MechanismStep
from .question import Choice, MatchingPair, NumericHint, OrderingItem, Question
from .revision import ChapterRevision, ImmutableError, MathStylesheet

__all__ = [
    "AccountName",
    "Chapter",
    "ChapterCompletion",
    "ChapterRevision",
    "Choice",
    "Course",
    "DeletedAccount",
    "DerivationStep",
    "Edition",
    "Figure",
    "Formula",
    "FormulaSymbol",
    "HeldForm",
    "ImmutableError",
    "Learner",
    "Listing",
    "MatchingPair",
    "MathStylesheet",
    "MechanismStep",
    "NumericHint",
    "OldChapterSlug",
    "OldCourseSlug",
    "OrderingItem",
    "Question",
    "QuizAttempt",
    "RequirementMet",
    "SlugTakenError",
]
