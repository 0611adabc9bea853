"""Submissions, score overrides and second verdicts. The row, not the broker, is the truth."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse

from .graded import Graded
from .ids import new_public_id, validate_public_id
from .states import Outcome, SubmissionState, Track


class Submission(Graded):
    """A source for one exercise and track, with the verdict that counts for the lesson."""

    public_id = models.CharField(
        "id",
        max_length=16,
        unique=True,
        default=new_public_id,
        editable=False,
        validators=[validate_public_id],
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        verbose_name="learner",
        on_delete=models.CASCADE,
        related_name="submissions",
    )
    exercise = models.ForeignKey(
        "grader.Exercise", on_delete=models.PROTECT, related_name="submissions"
    )
    track = models.CharField(max_length=16, choices=Track.choices)
    source = models.TextField()
    source_sha256 = models.CharField(max_length=64, db_index=True)
    source_bytes = models.PositiveIntegerField()

    decision_reason = models.TextField(
        blank=True, help_text="Why a grader decided as it stands; empty where the worker did."
    )
    decided_at = models.DateTimeField(null=True, blank=True)

    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    idempotency_key = models.CharField(  # NULL is exempt from uniqueness
        max_length=200, null=True, blank=True
    )

    class Meta(Graded.Meta):
        ordering = ("-created_at", "-id")
        constraints = [
            *Graded.Meta.constraints,
            models.UniqueConstraint(
                fields=["user", "idempotency_key"], name="grader_submission_one_per_key"
            ),
            models.CheckConstraint(
                condition=Q(track__in=Track.values), name="grader_submission_track_known"
            ),
            models.CheckConstraint(
                condition=(
                    Q(decision_reason="", decided_at__isnull=True)
                    | (
                        ~Q(decision_reason="")
                        & Q(decided_at__isnull=False, state=SubmissionState.FINISHED)
                    )
                ),
                name="grader_submission_decision_has_reason",
            ),
        ]
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="grader_sub_newest"),
            models.Index(fields=["user", "-created_at", "-id"], name="grader_sub_own_newest"),
            models.Index(fields=["exercise", "-created_at", "-id"], name="grader_sub_exercise"),
            models.Index(fields=["state", "-created_at", "-id"], name="grader_sub_state"),
            models.Index(fields=["outcome", "-created_at", "-id"], name="grader_sub_outcome"),
            models.Index(
                fields=["user"],
                name="grader_sub_open",
                condition=~Q(state=SubmissionState.FINISHED),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.public_id} ({self.get_state_display()})"

    def get_absolute_url(self) -> str:
        return reverse("grader:submission", args=[self.public_id])

    @property
    def is_flagged(self) -> bool:
        return self.outcome == Outcome.FLAGGED


class ScoreOverride(models.Model):
    """While it exists, it is the submission's score. The outcome stays the grading's."""

    submission = models.OneToOneField(
        "grader.Submission", on_delete=models.CASCADE, related_name="override"
    )
    score = models.FloatField(validators=[MinValueValidator(0.0), MaxValueValidator(1.0)])
    graded_score = models.FloatField(help_text="What the grading gave; comes back at the end.")
    reason = models.TextField(help_text="What the learner reads.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        default_permissions = ("view",)
        constraints = [
            models.CheckConstraint(
                condition=Q(score__gte=0.0, score__lte=1.0), name="grader_override_score_in_range"
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="grader_override_has_reason"),
        ]

    def __str__(self) -> str:
        return f"score {self.score:g} for submission {self.submission_id}"


class SecondVerdict(Graded):
    """Shown beside the submission's own: a GPU's, or a processor's where a device is required.

    It has its own life cycle: it may arrive long after the other, or never, and nothing waits for
    it.
    """

    submission = models.OneToOneField(
        "grader.Submission", on_delete=models.CASCADE, related_name="second"
    )

    class Meta(Graded.Meta):
        default_permissions = ("view",)

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.get_state_display()}"
