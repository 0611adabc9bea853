"""The chosen submissions as a table, for a gradebook."""

from __future__ import annotations

import csv
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
# A spreadsheet takes a cell that begins so for a formula; user names may.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


class _Echo:
    """A file of which each line is at once what was written."""

    def write(self, text: str) -> str:
        return text


@admin.action(description="Download as CSV")
def as_csv(
    modeladmin: Any, request: HttpRequest, submissions: QuerySet[Submission]
) -> StreamingHttpResponse:
    """Send one line for each submission, times in UTC as ISO 8601, scores from 0 to 1."""
    rows = submissions.select_related("exercise", "user").defer("source", "report")
    return StreamingHttpResponse(
        _lines(rows),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="submissions.csv"'},
    )


def _lines(submissions: QuerySet[Submission]) -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield writer.writerow(COLUMNS)
    for submission in submissions.iterator(chunk_size=500):
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
