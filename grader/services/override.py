"""A grader's score in place of the grading's, and its removal. Regrades never change it."""

from __future__ import annotations

import math

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from grader.access import may_change_submissions
from grader.models import AuditAction, Outcome, ScoreOverride, Submission, SubmissionState

from .audit import record_act
from .decide import checked_reason
from .errors import ChangedMeanwhile, DecisionRefused, NotAllowed, NotOverridable


def override_score(submission: Submission, by: User, score: float, reason: str) -> Submission:
    """Override a graded submission's score, from 0 to 1; the learner reads the reason.

    `submission` is as the person saw it: if it changed since, nothing happens.

    Raises:
        NotAllowed: the person may not change submissions.
        DecisionRefused: a score out of range, or no usable reason.
        NotOverridable: the submission has no score.
        ChangedMeanwhile: it changed since it was read.
    """
    _check_allowed(by)
    if not math.isfinite(score) or not 0 <= score <= 1:
        raise DecisionRefused("A score is a number from 0 to 1.", "score")
    text = checked_reason(reason)
    with transaction.atomic():
        _write_score(submission, score)
        former = ScoreOverride.objects.filter(submission=submission).first()
        graded = former.graded_score if former else submission.score
        values = {"score": score, "graded_score": graded, "reason": text, "created_by": by}
        ScoreOverride.objects.update_or_create(
            submission=submission, defaults={**values, "created_at": timezone.now()}
        )
        record_act(
            by,
            AuditAction.OVERRIDE_SET,
            f"submission:{submission.public_id}",
            before={"score": submission.score, "reason": former.reason if former else None},
            after={"score": score, "reason": text},
        )
    return _fresh(submission)


def remove_override(submission: Submission, by: User) -> Submission:
    """Restore the grading's score.

    Raises:
        NotAllowed: the person may not change submissions.
        NotOverridable: the score is not overridden.
        ChangedMeanwhile: it changed since it was read.
    """
    _check_allowed(by)
    with transaction.atomic():
        override = ScoreOverride.objects.filter(submission=submission).first()
        if override is None:
            raise NotOverridable("The score of this submission is the grading's already.")
        _write_score(submission, override.graded_score)
        override.delete()
        record_act(
            by,
            AuditAction.OVERRIDE_REMOVED,
            f"submission:{submission.public_id}",
            before={"score": override.score, "reason": override.reason},
            after={"score": override.graded_score, "reason": None},
        )
    return _fresh(submission)


def _check_allowed(by: User) -> None:
    if not may_change_submissions(by):
        raise NotAllowed("Only graders give a submission another score.")


def _write_score(submission: Submission, score: float) -> None:
    if submission.state != SubmissionState.FINISHED or submission.outcome not in Outcome.scored():
        raise NotOverridable(
            "Only a submission with a score can be given another. One that is held for review is "
            "decided on; one that could not be graded is sent again."
        )
    moved = Submission.objects.filter(
        pk=submission.pk, version=submission.version, state=SubmissionState.FINISHED
    ).update(score=score, updated_at=timezone.now(), version=F("version") + 1)
    if not moved:
        raise ChangedMeanwhile(
            "The submission changed since you read it. Read it again, then decide."
        )


def _fresh(submission: Submission) -> Submission:
    related = ("exercise__chapter__course", "user", "override", "second")
    return Submission.objects.select_related(*related).get(pk=submission.pk)
