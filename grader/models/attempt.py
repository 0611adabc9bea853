"""An attempt to grade a submission, held by a lease, and its message in the outbox."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from .ids import new_lease
from .states import AttemptState, NodeKind, Outcome, Queue


class GradingAttempt(models.Model):
    """A job on the queue or with a worker. Only the holder of the lease may write its result.

    `number` counts all attempts of the submission; `try_number` counts those since a person last
    queued it, limited by `GRADING["MAX_GRADING_ATTEMPTS"]`. `returns` counts how often nodes
    returned the job since then, which costs no try; `GRADING["MAX_RETURNS"]` limits it. The two
    kinds of node are counted separately.
    """

    submission = models.ForeignKey(
        "grader.Submission", on_delete=models.CASCADE, related_name="attempts"
    )
    regrade_item = models.ForeignKey(
        "grader.RegradeItem",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="attempts",
        help_text="Whom the verdict is for, if not the submission itself.",
    )
    number = models.PositiveSmallIntegerField()
    try_number = models.PositiveSmallIntegerField(default=1)
    returns = models.PositiveSmallIntegerField(default=0)
    lease = models.CharField(max_length=64, unique=True, default=new_lease, editable=False)
    state = models.CharField(
        max_length=16, choices=AttemptState.choices, default=AttemptState.QUEUED
    )
    kind = models.CharField(
        max_length=16, choices=NodeKind.choices, default=NodeKind.FUNCTIONAL, editable=False
    )
    queue = models.CharField(max_length=16, choices=Queue.choices)
    priority = models.PositiveSmallIntegerField(default=0, help_text="0 is served first.")
    node = models.CharField(max_length=200, blank=True)
    worker = models.ForeignKey(
        "grader.Worker",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        editable=False,
        help_text="Who signed the first message about it. No other worker may end it.",
    )
    outcome = models.CharField(max_length=16, choices=Outcome.choices, blank=True)
    end_reason = models.CharField(
        max_length=500, blank=True, help_text="Why the attempt ended, if not by a verdict."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("submission_id", "number")
        constraints = [
            models.UniqueConstraint(
                fields=["submission", "number"], name="grader_attempt_number_once"
            ),
            models.UniqueConstraint(
                fields=["submission", "kind"],
                condition=Q(state__in=AttemptState.open(), regrade_item__isnull=True),
                name="grader_attempt_one_open",
            ),
            models.UniqueConstraint(
                fields=["regrade_item"],
                condition=Q(state__in=AttemptState.open(), regrade_item__isnull=False),
                name="grader_attempt_one_open_per_item",
            ),
            models.CheckConstraint(
                condition=Q(state__in=AttemptState.values), name="grader_attempt_state_known"
            ),
            models.CheckConstraint(
                # Without a heartbeat, the reaper could not see that a worker died.
                condition=~Q(state__in=AttemptState.with_worker()) | Q(heartbeat_at__isnull=False),
                name="grader_attempt_claimed_has_heartbeat",
            ),
            models.CheckConstraint(
                condition=(
                    Q(kind=NodeKind.FUNCTIONAL, queue=Queue.CPU)
                    | Q(kind=NodeKind.DEVICE, queue=Queue.GPU)
                ),
                name="grader_attempt_queue_fits_kind",
            ),
            models.CheckConstraint(
                condition=Q(try_number__gte=1, number__gte=1), name="grader_attempt_counts_from_1"
            ),
        ]
        indexes = [
            models.Index(
                fields=["queue", "priority", "id"],
                name="grader_attempt_open_queue",
                condition=Q(state__in=AttemptState.open()),
            ),
            # For estimates of the waiting time: the latest gradings of a kind of node.
            models.Index(
                fields=["kind", "-id"],
                name="grader_attempt_done",
                condition=Q(state=AttemptState.FINISHED),
            ),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.submission_id}: {self.state}"


class OutboxMessage(models.Model):
    """The intent to put one attempt on its queue. The message's body is built when it is sent."""

    attempt = models.OneToOneField(
        "grader.GradingAttempt", on_delete=models.CASCADE, related_name="outbox"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    sends = models.PositiveIntegerField(default=0, help_text="How often it reached the broker.")
    failures = models.PositiveIntegerField(default=0)
    last_error = models.CharField(max_length=500, blank=True)
    request_id = models.CharField(
        max_length=64, blank=True, help_text="Of the request that led to it, for the log."
    )
    locked_until = models.DateTimeField(
        null=True, blank=True, help_text="A sender has it until then; two never send at once."
    )

    class Meta:
        ordering = ("id",)
        indexes = [
            models.Index(
                fields=["id"], name="grader_outbox_unsent", condition=Q(sent_at__isnull=True)
            ),
        ]

    def __str__(self) -> str:
        return f"message for attempt {self.attempt_id}: {'sent' if self.sent_at else 'waiting'}"
