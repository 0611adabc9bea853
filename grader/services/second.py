"""Second verdicts once more: after a node was repaired, or where none could be given.

The verdict that counts stays as it is. Repeated verdicts wait behind everything that was not graded
yet, as regrades do.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from gpu_worker.messages.queues import PRIORITY_REGRADE
from grader.access import may_change_submissions
from grader.models import AuditAction, SecondVerdict, Submission, SubmissionState

from .attempts import start_attempt
from .audit import record_act
from .errors import NoSecondVerdict, NotAllowed
from .verdicts import reopen


def ask_second_again(by: User, submission: Submission) -> bool:
    """Let the other kind of node grade the submission once more, whatever it found before.

    Return whether anything was requested: while the verdict is awaited, asking changes nothing. The
    former one is kept in the audit entry.

    Raises:
        NotAllowed: the person may not change submissions.
        NoSecondVerdict: only one kind of node grades the submission's track.
    """
    if not may_change_submissions(by):
        raise NotAllowed(
            "Only graders ask for a second verdict that was given. What could not be graded, or "
            "was replaced by a newer submission, its learner sends again."
        )
    with transaction.atomic():
        rows = SecondVerdict.objects.filter(submission=submission.pk)
        former = rows.select_for_update().first()
        if former is None:
            raise NoSecondVerdict("This submission has one verdict alone. Regrade it instead.")
        graded = submission.attempts.filter(kind=former.kind, regrade_item__isnull=True)
        last = graded.order_by("-number").values_list("number", flat=True).first()
        if not reopen(rows):
            return False
        start_attempt(submission, former.kind, priority=PRIORITY_REGRADE)
        record_act(
            by,
            AuditAction.SECOND_ASKED,
            f"submission:{submission.public_id}",
            before={"state": former.state, "outcome": former.outcome, "score": former.score},
            after={"state": SubmissionState.QUEUED, "outcome": None, "score": None},
            kind=former.kind,
            attempt=last,
        )
    return True
