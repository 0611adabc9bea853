"""A grader's decision on a submission that is held for review."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from grader.access import may_change_submissions
from grader.messages import UNSTORABLE
from grader.models import AuditAction, Outcome, Submission, SubmissionState

from .audit import record_act
from .errors import DecisionRefused, NotAllowed, NotDecidable
from .requirements import mark_exercise_met

SCORES: Final = MappingProxyType(
    {Outcome.ACCEPTED: 1.0, Outcome.WRONG_ANSWER: 0.0, Outcome.CONTRACT_ERROR: 0.0}
)
"""The possible decisions, with their scores."""
MAX_REASON_CHARACTERS: Final = 1_000


def decide_flagged(submission: Submission, by: User, outcome: str, reason: str) -> Submission:
    """Settle a submission held for review; the learner reads the reason, not who gave it.

    The worker's report stays, with the submission and with the attempt. An acceptance meets the
    chapter's requirement as a worker's would. Of two simultaneous decisions, the first holds.

    Raises:
        NotAllowed: the person may not change submissions.
        DecisionRefused: an outcome that nobody can decide on, or no usable reason.
        NotDecidable: it is not held for review, or no longer.
    """
    if not may_change_submissions(by):
        raise NotAllowed("Only graders decide on submissions that are held for review.")
    decided = _outcome(outcome)
    text = checked_reason(reason)
    now = timezone.now()
    with transaction.atomic():
        former_score = Submission.objects.values_list("score", flat=True).get(pk=submission.pk)
        moved = Submission.objects.filter(
            pk=submission.pk, state=SubmissionState.FINISHED, outcome=Outcome.FLAGGED
        ).update(
            outcome=decided,
            score=SCORES[decided],
            decision_reason=text,
            decided_at=now,
            updated_at=now,
            version=F("version") + 1,
        )
        if not moved:
            raise NotDecidable(
                "This submission is not held for review, or somebody has decided on it already."
            )
        submission.refresh_from_db()
        if decided is Outcome.ACCEPTED:
            mark_exercise_met(submission)
        record_act(
            by,
            AuditAction.SUBMISSION_DECIDED,
            f"submission:{submission.public_id}",
            before={"outcome": Outcome.FLAGGED.value, "score": former_score, "reason": None},
            after={"outcome": decided.value, "score": SCORES[decided], "reason": text},
        )
    return submission


def _outcome(value: str) -> Outcome:
    for outcome in SCORES:
        if value == outcome.value:
            return outcome
    raise DecisionRefused(f"Decide on one of {', '.join(o.value for o in SCORES)}.", "outcome")


def checked_reason(value: str) -> str:
    """Return the reason that a learner reads, stripped.

    Raises:
        DecisionRefused: it is empty, too long, or contains characters that cannot be stored.
    """
    text = value.strip()
    if not text:
        raise DecisionRefused("Give the reason: the learner reads it.", "reason")
    if len(text) > MAX_REASON_CHARACTERS or UNSTORABLE.search(text):
        raise DecisionRefused(
            f"A reason has at most {MAX_REASON_CHARACTERS:,} characters, without NUL.", "reason"
        )
    return text
