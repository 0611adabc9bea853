"""The selected submissions as CSV, for a gradebook."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator
from typing import Any, Final

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse

from grader.deadlines import deadline_of, is_late
from grader.models import Submission

COLUMNS: Final = (
    *("id", "exercise", "track", "learner", "submitted_at", "due_at", "late"),
    *("state", "outcome", "score", "finished_at"),
)
# Spreadsheets read cells with these first characters as formulas; user names may have them.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
BYTE_ORDER_MARK: Final = "\ufeff"


class _Echo:
    """A file whose `write` returns the line, for streaming."""

    def write(self, text: str) -> str:
        return text


@admin.action(description="Download as CSV for Excel")
def as_csv_for_excel(
    modeladmin: Any, request: HttpRequest, submissions: QuerySet[Submission]
) -> StreamingHttpResponse:
    """Stream the CSV of `as_csv` after a byte order mark.

    Without one, Excel decodes the file in the machine's code page, which garbles names; other
    programs may read the mark as part of the first column's name.
    """
    return _answer(itertools.chain([BYTE_ORDER_MARK], _lines(submissions)))


@admin.action(description="Download as plain CSV, for programs")
def as_csv(
    modeladmin: Any, request: HttpRequest, submissions: QuerySet[Submission]
) -> StreamingHttpResponse:
    """Stream one line for each submission, times in UTC as ISO 8601, scores from 0 to 1."""
    return _answer(_lines(submissions))


DOWNLOADS: Final = ("as_csv_for_excel", "as_csv")


def _answer(lines: Iterator[str]) -> StreamingHttpResponse:
    return StreamingHttpResponse(
        lines,
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="submissions.csv"'},
    )


def _lines(submissions: QuerySet[Submission]) -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield writer.writerow(COLUMNS)
    rows = submissions.select_related("exercise", "user").defer("source", "report")
    for submission in rows.iterator(chunk_size=500):
        yield writer.writerow([_cell(value) for value in _values(submission)])


def _values(submission: Submission) -> tuple[Any, ...]:
    deadline = deadline_of(submission)
    return (
        submission.public_id,
        submission.exercise.slug,
        submission.track,
        submission.user.get_username(),
        submission.created_at.isoformat(),
        deadline and deadline.isoformat(),
        "true" if is_late(submission) else "false",
        submission.state,
        submission.outcome,
        submission.score,
        submission.finished_at and submission.finished_at.isoformat(),
    )


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
