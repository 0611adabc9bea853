"""Validation rules within one question; each message says what to do."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterable

from courses.quiz.numbers import NumberError, read_number, within_tolerance
from courses.quiz.output import MAX_OUTPUT_CHARACTERS, printed_lines
from courses.rendering import SourceError

from .schema import (
    ChoiceQuestionContent,
    MatchingQuestionContent,
    NumericQuestionContent,
    OrderingQuestionContent,
    OutputQuestionContent,
    QuestionContent,
)

MIN_CHOICES = 2
MIN_ITEMS = 3
MIN_PAIRS = 2
MAX_PARTS = 12
PYTHON = frozenset({"python", "python3", "py"})
"""The names of the language in which a program is held to be one."""
Errors = dict[str, list[SourceError]]


def question_errors(question: QuestionContent) -> Errors:
    """Return the violated rules by field path (see `ContentError`)."""
    errors: Errors = defaultdict(list)
    if isinstance(question, NumericQuestionContent):
        _numeric(question, errors)
    elif isinstance(question, OrderingQuestionContent):
        _ordering(question, errors)
    elif isinstance(question, MatchingQuestionContent):
        _matching(question, errors)
    elif isinstance(question, OutputQuestionContent):
        _output(question, errors)
    else:
        _choices(question, errors)
    return dict(errors)


def _add(errors: Errors, field: str, message: str, excerpt: str = "") -> None:
    errors[field].append(SourceError(line=1, column=1, message=message, excerpt=excerpt))


def repeated(keys: Iterable[str]) -> list[str]:
    """Return the duplicate keys, once for each repetition."""
    seen: set[str] = set()
    return [key for key in keys if key in seen or seen.add(key)]  # type: ignore[func-returns-value]


def _choices(question: ChoiceQuestionContent, errors: Errors) -> None:
    field = f"questions/{question.key}/choices"
    for key in repeated(choice.key for choice in question.choices):
        _add(errors, field, f"“{key}” stands here twice. Give each choice its own key.")
    if len(question.choices) < MIN_CHOICES:
        _add(errors, field, f"A question needs at least {MIN_CHOICES} choices.")
        return
    right = sum(choice.correct for choice in question.choices)
    if question.kind == "single" and right != 1:
        _add(
            errors,
            field,
            f"Exactly one choice must be right, and {right} are marked so. "
            "For several right choices use the kind multiple.",
        )
    elif right == 0:
        _add(errors, field, "At least one choice must be right, and none is marked so.")


def _ordering(question: OrderingQuestionContent, errors: Errors) -> None:
    field = f"questions/{question.key}/items"
    _parts([item.key for item in question.items], MIN_ITEMS, "step", field, errors)
    seen: dict[str, str] = {}
    for item in question.items:
        text = item.text.strip()
        if text in seen:
            _add(
                errors,
                f"{field}/{item.key}/text",
                f"This says the same as “{seen[text]}”, so nobody could tell which of the two "
                "comes first. Word them differently, or keep one.",
            )
        seen.setdefault(text, item.key)


def _matching(question: MatchingQuestionContent, errors: Errors) -> None:
    field = f"questions/{question.key}/pairs"
    _parts([pair.key for pair in question.pairs], MIN_PAIRS, "pair", field, errors)
    if sum(bool(pair.left.strip()) for pair in question.pairs) < MIN_PAIRS:
        _add(
            errors,
            field,
            f"At least {MIN_PAIRS} pairs need a left side. A pair without one is a right side "
            "that belongs to nothing.",
        )
    for side in ("left", "right"):
        seen: dict[str, str] = {}
        for pair in question.pairs:
            text = getattr(pair, side).strip()
            if text and text in seen:
                _add(
                    errors,
                    f"{field}/{pair.key}/{side}",
                    f"The pair “{seen[text]}” has the same {side} side, so either would be right. "
                    "Word them differently, or keep one.",
                )
            seen.setdefault(text, pair.key)


def _parts(keys: list[str], least: int, name: str, field: str, errors: Errors) -> None:
    for key in repeated(keys):
        _add(errors, field, f"“{key}” stands here twice. Give each {name} its own key.")
    if not least <= len(keys) <= MAX_PARTS:
        _add(
            errors,
            field,
            f"This kind of question needs {least} to {MAX_PARTS} {name}s, and has {len(keys)}.",
        )


def _output(question: OutputQuestionContent, errors: Errors) -> None:
    field = f"questions/{question.key}"
    printed = printed_lines(question.output)
    if not printed:
        _add(errors, f"{field}/output", "Write what the program prints; a space alone is nothing.")
    if len(question.output) > MAX_OUTPUT_CHARACTERS:
        _add(
            errors,
            f"{field}/output",
            f"Longer than the {MAX_OUTPUT_CHARACTERS} characters that a learner may type. "
            "Take a program that prints less.",
        )
    if question.language.lower() in PYTHON:
        _python(question.code, f"{field}/code", errors)
    for place, hint in enumerate(question.hints, start=1):
        if printed_lines(hint.value) == printed:
            _add(
                errors,
                f"{field}/hints/{place}/value",
                "This is what the program prints, so its feedback would never be shown.",
            )


def _python(code: str, field: str, errors: Errors) -> None:
    """Refuse what is not valid Python. It is compiled, never run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(code, "the program", "exec", dont_inherit=True)
    except SyntaxError as error:
        line, column = max(error.lineno or 1, 1), max(error.offset or 1, 1)
        shown = (code.splitlines() or [""])[line - 1 : line]
        excerpt = f"{shown[0]}\n{' ' * (column - 1)}^" if shown else ""
        message = f"Python cannot read the program from here on: {error.msg}."
        errors[field].append(SourceError(line, column, message, excerpt))
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        _add(errors, field, f"This is not a program that Python can read: {error}.")


def _numeric(question: NumericQuestionContent, errors: Errors) -> None:
    field = f"questions/{question.key}"
    try:
        answer = read_number(question.answer)
    except NumberError as error:
        _add(errors, f"{field}/answer", str(error), excerpt=f"{question.answer}\n^")
        return
    try:
        tolerance = read_number(question.tolerance)
    except NumberError as error:
        _add(errors, f"{field}/tolerance", str(error), excerpt=f"{question.tolerance}\n^")
        return
    if not 0 <= tolerance < 1:
        _add(errors, f"{field}/tolerance", "The tolerance must be at least 0 and less than 1.")
    for place, hint in enumerate(question.hints, start=1):
        hint_field = f"{field}/hints/{place}/value"
        try:
            value = read_number(hint.value)
        except NumberError as error:
            _add(errors, hint_field, str(error), excerpt=f"{hint.value}\n^")
            continue
        if within_tolerance(value, answer, tolerance):
            _add(errors, hint_field, "This value is right, so its feedback would never be shown.")
