"""Runs that a learner waits for: no attempt, no score, deleted after a short while."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from .ids import new_lease, new_public_id, validate_public_id
from .states import RunKind, RunOutcome, RunState, Track


class CodeRun(models.Model):
    """A program, or a source with an exercise's public cases, and the result of running it."""

    public_id = models.CharField(
        "id",
        max_length=16,
        unique=True,
        default=new_public_id,
        editable=False,
        validators=[validate_public_id],
    )
    lease = models.CharField(max_length=64, unique=True, default=new_lease, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="runs"
    )
    kind = models.CharField(max_length=16, choices=RunKind.choices)
    exercise = models.ForeignKey(
        "grader.Exercise",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="runs",
        help_text="Whose public cases are run.",
    )
    track = models.CharField(max_length=16, choices=Track.choices, default=Track.NUMPY)
    source = models.TextField()

    state = models.CharField(max_length=16, choices=RunState.choices, default=RunState.QUEUED)
    outcome = models.CharField(  # NULL means "none yet"
        max_length=16, choices=RunOutcome.choices, null=True, blank=True
    )
    report = models.JSONField(default=dict, blank=True)
    node = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.UniqueConstraint(
                fields=["user"],
                condition=~Q(state=RunState.FINISHED),
                name="grader_run_one_open_each",
            ),
            models.CheckConstraint(
                condition=Q(state__in=RunState.values), name="grader_run_state_known"
            ),
            models.CheckConstraint(
                condition=(
                    Q(kind=RunKind.CODE, exercise__isnull=True)
                    | Q(kind=RunKind.PUBLIC_CASES, exercise__isnull=False)
                ),
                name="grader_run_kind_fits_exercise",
            ),
            models.CheckConstraint(
                condition=(
                    # NULL IN (...) is neither true nor false, so that NULL is named.
                    Q(
                        state=RunState.FINISHED,
                        outcome__isnull=False,
                        outcome__in=RunOutcome.values,
                        finished_at__isnull=False,
                    )
                    | (
                        ~Q(state=RunState.FINISHED)
                        & Q(outcome__isnull=True, finished_at__isnull=True)
                    )
                ),
                name="grader_run_finished_has_outcome",
            ),
        ]
        indexes = [
            models.Index(fields=["user", "-created_at"], name="grader_run_own_newest"),
            models.Index(fields=["created_at"], name="grader_run_oldest"),
        ]

    def __str__(self) -> str:
        return f"{self.public_id} ({self.get_state_display()})"

    def get_absolute_url(self) -> str:
        return reverse("grader:run", args=[self.public_id])

    @property
    def is_final(self) -> bool:
        return self.state == RunState.FINISHED
