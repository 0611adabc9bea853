"""What a revision keeps for the server alone: which answers are right, and what is said of each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from courses.content.schema import (
    ChapterContent,
    ChoiceQuestionContent,
    NumericQuestionContent,
    QuestionContent,
)
from courses.quiz.kinds import KINDS

VERSION_CHARACTERS = 16


def answers_of(content: ChapterContent, rendered: Mapping[str, str]) -> dict[str, Any]:
    """Return the answers by question key, in the shape that `courses.quiz.kinds` reads."""
    return {question.key: _answers(question, rendered) for question in content.questions}


def question_versions(content: ChapterContent) -> dict[str, str]:
    """Return by question key a hash of what decides whether an answer is right, wording aside."""
    return {question.key: _version(question) for question in content.questions}


def _answers(question: QuestionContent, rendered: Mapping[str, str]) -> dict[str, Any]:
    path = f"questions/{question.key}"
    answers: dict[str, Any] = {
        "kind": question.kind,
        "explanation_html": rendered[f"{path}/explanation"],
    }
    if isinstance(question, NumericQuestionContent):
        answers["answer"] = question.answer
        answers["tolerance"] = question.tolerance
        answers["hints"] = [
            {"value": hint.value, "feedback_html": rendered[f"{path}/hints/{place}/feedback"]}
            for place, hint in enumerate(question.hints, start=1)
        ]
    elif isinstance(question, ChoiceQuestionContent):
        answers["choices"] = {
            choice.key: {
                "correct": choice.correct,
                "feedback_html": rendered[f"{path}/choices/{choice.key}/feedback"],
            }
            for choice in question.choices
        }
    return answers


def _version(question: QuestionContent) -> str:
    fields = [question.kind, KINDS[question.kind].version_fields(question.model_dump())]
    return hashlib.sha256(json.dumps(fields).encode()).hexdigest()[:VERSION_CHARACTERS]
