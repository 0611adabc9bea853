"""Errors in content: files that cannot be read, and texts that cannot be rendered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from courses.rendering import SourceError


class FileError(Exception):
    """Files that do not have the course format. `problems` are full sentences, file first."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)


class ContentError(Exception):
    """Content that cannot be published. `errors` maps a field to what is wrong in it.

    Fields are paths such as `intuition`, `formulas/rmsnorm/tex`, `formulas/rmsnorm/symbols/1/tex`
    (counted from 1), `questions/why/choices/a/text`, `listings/norm.py/lines`.
    """

    def __init__(self, errors: Mapping[str, Sequence[SourceError]]) -> None:
        self.errors = {field: list(found) for field, found in errors.items()}
        super().__init__("\n".join(describe(self.errors)))


def describe(errors: Mapping[str, Sequence[SourceError]]) -> list[str]:
    """Return one text for each error: field, line, column, message and excerpt."""
    return [
        f"{field}, {describe_source_error(error)}"
        for field, found in errors.items()
        for error in found
    ]


def describe_source_error(error: SourceError) -> str:
    """Return `line L, column C: message` and, below it, the excerpt with its caret."""
    text = f"line {error.line}, column {error.column}: {error.message}"
    return f"{text}\n{error.excerpt}" if error.excerpt else text
