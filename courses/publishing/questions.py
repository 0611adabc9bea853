"""The three forms of a question: texts to render, the page's entry, the server's answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from courses.content.schema import (
    ChoiceQuestionContent,
    HintContent,
    MatchingQuestionContent,
    NumericQuestionContent,
    OrderingQuestionContent,
    OutputHintContent,
    OutputQuestionContent,
    QuestionContent,
)
from courses.quiz.base import token
from courses.rendering import Source, render_code

Html = Mapping[str, str]


def question_sources(question: QuestionContent) -> Iterator[tuple[str, Source]]:
    """Yield the question's texts, each under the path of its field."""
    path = f"questions/{question.key}"
    yield f"{path}/prompt", _markdown(question.prompt)
    yield f"{path}/explanation", _markdown(question.explanation)
    if isinstance(question, ChoiceQuestionContent):
        for choice in question.choices:
            yield f"{path}/choices/{choice.key}/text", _markdown(choice.text)
            yield f"{path}/choices/{choice.key}/feedback", _markdown(choice.feedback)
    elif isinstance(question, OrderingQuestionContent):
        for item in question.items:
            for name in ("text", "feedback", "hint"):
                yield f"{path}/items/{item.key}/{name}", _markdown(getattr(item, name))
    elif isinstance(question, MatchingQuestionContent):
        for pair in question.pairs:
            for name in ("left", "right", "feedback", "hint"):
                yield f"{path}/pairs/{pair.key}/{name}", _markdown(getattr(pair, name))
    else:
        for place, hint in enumerate(_hints(question), start=1):
            yield f"{path}/hints/{place}/feedback", _markdown(hint.feedback)


def question_page(number: int, question: QuestionContent, rendered: Html) -> dict[str, Any]:
    """Return the public part of a question; its keys, order and tokens give no answer away."""
    path = f"questions/{question.key}"
    page: dict[str, Any] = {
        "key": question.key,
        "number": number,
        "kind": question.kind,
        "prompt_html": rendered[f"{path}/prompt"],
        "choices": [],
        "tolerance": None,
    }
    if isinstance(question, ChoiceQuestionContent):
        page["choices"] = [
            {"key": choice.key, "html": rendered[f"{path}/choices/{choice.key}/text"]}
            for choice in question.choices
        ]
    elif isinstance(question, OrderingQuestionContent):
        page["items"] = _by_token(
            (_item_token(question, item.key), rendered[f"{path}/items/{item.key}/text"])
            for item in question.items
        )
    elif isinstance(question, MatchingQuestionContent):
        page["lefts"] = [
            {
                "key": _left_token(question, pair.key),
                "html": rendered[f"{path}/pairs/{pair.key}/left"],
            }
            for pair in question.pairs
            if pair.left.strip()
        ]
        page["rights"] = _by_token(
            (_right_token(question, pair.key), rendered[f"{path}/pairs/{pair.key}/right"])
            for pair in question.pairs
        )
    elif isinstance(question, OutputQuestionContent):
        page["code_html"] = render_code(question.code, question.language)
    else:
        page["tolerance"] = question.tolerance
    return page


def question_answers(question: QuestionContent, rendered: Html) -> dict[str, Any]:
    """Return the private part of a question, in the form that `courses.quiz` reads."""
    path = f"questions/{question.key}"
    answers: dict[str, Any] = {
        "kind": question.kind,
        "explanation_html": rendered[f"{path}/explanation"],
    }
    if isinstance(question, ChoiceQuestionContent):
        answers["choices"] = {
            choice.key: {
                "correct": choice.correct,
                "feedback_html": rendered[f"{path}/choices/{choice.key}/feedback"],
            }
            for choice in question.choices
        }
    elif isinstance(question, OrderingQuestionContent):
        answers["items"] = [
            {
                "key": item.key,
                "token": _item_token(question, item.key),
                "feedback_html": rendered[f"{path}/items/{item.key}/feedback"],
                "hint_html": rendered[f"{path}/items/{item.key}/hint"],
            }
            for item in question.items
        ]
    elif isinstance(question, MatchingQuestionContent):
        answers["pairs"] = [
            {
                "key": pair.key,
                "left": _left_token(question, pair.key) if pair.left.strip() else "",
                "right": _right_token(question, pair.key),
                "feedback_html": rendered[f"{path}/pairs/{pair.key}/feedback"],
                "hint_html": rendered[f"{path}/pairs/{pair.key}/hint"],
            }
            for pair in question.pairs
        ]
    else:
        answers |= _typed_answers(question, rendered)
    return answers


def _typed_answers(
    question: NumericQuestionContent | OutputQuestionContent, rendered: Html
) -> dict[str, Any]:
    hints = [
        {
            "value": hint.value,
            "feedback_html": rendered[f"questions/{question.key}/hints/{place}/feedback"],
        }
        for place, hint in enumerate(_hints(question), start=1)
    ]
    if isinstance(question, OutputQuestionContent):
        return {"output": question.output, "hints": hints}
    return {"answer": question.answer, "tolerance": question.tolerance, "hints": hints}


def _hints(
    question: NumericQuestionContent | OutputQuestionContent,
) -> Sequence[HintContent | OutputHintContent]:
    return question.hints


def _item_token(question: QuestionContent, key: str) -> str:
    return token(question.key, "item", key)


def _left_token(question: QuestionContent, key: str) -> str:
    return token(question.key, "left", key)


def _right_token(question: QuestionContent, key: str) -> str:
    return token(question.key, "right", key)


def _by_token(parts: Iterator[tuple[str, str]]) -> list[dict[str, str]]:
    """Order by token: the author's order would be the answer."""
    return [{"key": name, "html": markup} for name, markup in sorted(parts)]


def _markdown(text: str) -> Source:
    return Source("markdown", text)
