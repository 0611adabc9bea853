"""Writing the result of an attempt: a submission's verdict, or a regrade's result."""

from __future__ import annotations

from datetime import datetime

from gpu_worker.messages.protocol import Report
from grader.models import (
    GradingAttempt,
    Outcome,
    RegradeItem,
    RegradeItemState,
    RegradeRun,
    RegradeState,
    SubmissionState,
)

from .requirements import mark_exercise_met
from .verdicts import counts, update_open, verdict_of


def settle(
    attempt: GradingAttempt, outcome: Outcome, score: float, report: Report, now: datetime
) -> None:
    """Write the result to the submission or the regrade that the attempt was for.

    Call it in the transaction that ended the attempt.
    """
    kept = _kept_score(outcome, score)
    data = report.model_dump(mode="json")
    if attempt.regrade_item_id is not None:
        _settle_item(attempt.regrade_item_id, outcome, kept, data, now)
        return
    finished = update_open(
        attempt,
        state=SubmissionState.FINISHED,
        phase="",
        outcome=outcome,
        score=kept,
        report=data,
        claimed_at=verdict_of(attempt).claimed_at or now,
        finished_at=now,
    )
    if not finished:
        raise RuntimeError(
            f"Submission {attempt.submission.public_id} is finished while its attempt was open."
        )
    if outcome is Outcome.ACCEPTED and counts(attempt):
        mark_exercise_met(attempt.submission)


def _settle_item(
    pk: int, outcome: Outcome, score: float | None, report: object, now: datetime
) -> None:
    item = RegradeItem.objects.get(pk=pk)
    # Of two items ending at once, the second must see that the first ended.
    run = RegradeRun.objects.select_for_update().get(pk=item.run_id)
    RegradeItem.objects.filter(pk=pk, state=RegradeItemState.WAITING).update(
        state=RegradeItemState.GRADED, outcome=outcome, score=score, report=report, graded_at=now
    )
    if not run.items.filter(state=RegradeItemState.WAITING).exists():
        RegradeRun.objects.filter(pk=run.pk, state=RegradeState.GRADING).update(
            state=RegradeState.GRADED, graded_at=now
        )


def _kept_score(outcome: Outcome, score: float) -> float | None:
    if outcome not in Outcome.scored():
        return None
    # An acceptance scores 1 even if the weights add up to 0.9999999.
    return 1.0 if outcome is Outcome.ACCEPTED else score
