"""The kinds of questions by name. A new kind is a class, registered here."""

from __future__ import annotations

from django.http import QueryDict

from .base import AnswerError, Answers, Feedback, Given, QuestionKind, Result, Shown
from .choices import Multiple, Single
from .matching import Matching
from .numeric import Numeric
from .ordering import Ordering
from .output import Output

__all__ = [
    "KINDS",
    "AnswerError",
    "Feedback",
    "Given",
    "Result",
    "arrange",
    "as_sent",
    "check",
    "nothing",
    "read",
]

KINDS: dict[str, QuestionKind] = {
    "single": Single(),
    "multiple": Multiple(),
    "numeric": Numeric(),
    "ordering": Ordering(),
    "matching": Matching(),
    "output": Output(),
}


def read(answers: Answers, data: QueryDict) -> Given:
    """Return the answer in posted form data; `AnswerError` if there is none."""
    return KINDS[answers["kind"]].read(answers, data)


def as_sent(answers: Answers, data: QueryDict) -> Given:
    """Return the part of posted form data that can be shown again, though it is no answer."""
    return KINDS[answers["kind"]].as_sent(answers, data)


def check(answers: Answers, given: Given) -> Result:
    """Judge a stored answer against one question's `answers`."""
    return KINDS[answers["kind"]].check(answers, given)


def arrange(question: Shown, answers: Answers, given: Given, seed: str) -> Shown:
    """Return a question of the page as the learner with this seed sees it, after `given`."""
    return KINDS[answers["kind"]].arrange(question, answers, given, seed)


def nothing(answers: Answers) -> Given:
    """Return the value that stands for no answer yet."""
    return KINDS[answers["kind"]].nothing
