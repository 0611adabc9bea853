"""Which row an attempt's verdict goes to: the submission, or its second verdict."""

from __future__ import annotations

from typing import Any

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from grader.models import GradingAttempt, Outcome, SecondVerdict, Submission, SubmissionState


def counts(attempt: GradingAttempt) -> bool:
    """Return whether the verdict is the one that counts for the lesson."""
    return attempt.kind == attempt.submission.kind


def verdict_of(attempt: GradingAttempt) -> Submission | SecondVerdict:
    """Return the row for the attempt's verdict; not for attempts of regrades."""
    return attempt.submission if counts(attempt) else attempt.submission.second


def rows_of(attempt: GradingAttempt) -> QuerySet[Any]:
    """Return the row for the attempt's verdict, as a queryset; not for attempts of regrades."""
    if counts(attempt):
        return Submission.objects.filter(pk=attempt.submission_id)
    return SecondVerdict.objects.filter(submission=attempt.submission_id, kind=attempt.kind)


def update_open(attempt: GradingAttempt, **fields: Any) -> bool:
    """Update the attempt's row if it has no verdict yet. Return whether it had none."""
    open_rows = rows_of(attempt).filter(state__in=SubmissionState.open())
    return write(attempt, open_rows, **fields)


def write(attempt: GradingAttempt, rows: QuerySet[Any], **fields: Any) -> bool:
    """Update rows of `rows_of`, and increment their version. Return whether there was one."""
    if counts(attempt):
        fields["updated_at"] = timezone.now()
    return bool(rows.update(**fields, version=F("version") + 1))


def reopen_ungraded(rows: QuerySet[Any], **fields: Any) -> bool:
    """Reset rows that the platform failed to grade, or that were replaced before their turn.

    Return whether there was one.
    """
    failed = Q(state=SubmissionState.FINISHED, outcome=Outcome.NOT_GRADABLE)
    return reopen(rows.filter(failed | Q(state=SubmissionState.REPLACED)), **fields)


def reopen(rows: QuerySet[Any], **fields: Any) -> bool:
    """Reset those of the rows that are final. Return whether there was one."""
    return bool(
        rows.exclude(state__in=SubmissionState.open()).update(
            state=SubmissionState.QUEUED,
            outcome=None,
            score=None,
            report={},
            phase="",
            case=0,
            cases=0,
            claimed_at=None,
            finished_at=None,
            version=F("version") + 1,
            **fields,
        )
    )
