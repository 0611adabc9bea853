"""The names of mistakes, which a verdict that is there already is completed by.

A worker sends a verdict as soon as outcome and score are final, and once more with the names that
it found. The second one only adds: should it come first, it is the verdict, and should it never
come, the first one holds.
"""

from __future__ import annotations

from typing import Any, Final

from django.db.models import QuerySet

from gpu_worker.messages import protocol
from grader.models import AttemptState, GradingAttempt, RegradeItem

from .verdicts import rows_of, write

_ADDED: Final = ("mistakes", "notes", "failure", "timings", "naming")
"""What of a report the search for a name changes."""


def add_names(verdict: protocol.Verdict) -> bool:
    """Complete the verdict that this attempt gave. Return whether it was still to be completed.

    Nothing else is written, and nothing where somebody has replaced the verdict meanwhile. Call it
    inside a transaction.
    """
    attempt = (
        GradingAttempt.objects.select_for_update(of=("self",))
        .select_related("submission")
        .filter(
            lease=verdict.lease,
            submission__public_id=verdict.submission,
            kind=verdict.kind,
            state=AttemptState.FINISHED,
            outcome=verdict.outcome,
        )
        .first()
    )
    if attempt is None or verdict.report.naming:
        return False
    rows = _given_by(attempt)
    kept = rows.select_for_update().values_list("report", flat=True).first()
    if not isinstance(kept, dict) or kept.get("naming") is not True:
        return False
    found = verdict.report.model_dump(mode="json")
    report = {**kept, **{name: found[name] for name in _ADDED}}
    if attempt.regrade_item_id is not None:
        return bool(rows.update(report=report))
    return write(attempt, rows, report=report)


def _given_by(attempt: GradingAttempt) -> QuerySet[Any]:
    """Return the row that has the attempt's verdict; none where it has another one by now."""
    if attempt.regrade_item_id is not None:
        item = RegradeItem.objects.filter(pk=attempt.regrade_item_id)
        return item.filter(graded_at=attempt.finished_at)
    return rows_of(attempt).filter(finished_at=attempt.finished_at)
