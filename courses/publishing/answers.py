"""The private part of a revision: right answers and feedback, for the server only."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from courses.content.schema import ChapterContent
from courses.quiz.kinds import KINDS

from .questions import question_answers

VERSION_CHARACTERS = 16


def answers_of(content: ChapterContent, rendered: Mapping[str, str]) -> dict[str, Any]:
    """Return the answers by question key, in the form that `courses.quiz.kinds` reads."""
    return {question.key: question_answers(question, rendered) for question in content.questions}


def question_versions(content: ChapterContent) -> dict[str, str]:
    """Return, by question key, a hash of what makes an answer right; wording is excluded."""
    return {
        question.key: version_of(question.kind, question.model_dump())
        for question in content.questions
    }


def version_of(kind: str, question: Mapping[str, Any]) -> str:
    """Return the version of a question, given as plain data."""
    fields = [kind, KINDS[kind].version_fields(question)]
    return hashlib.sha256(json.dumps(fields).encode()).hexdigest()[:VERSION_CHARACTERS]
