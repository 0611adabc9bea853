"""Regrades: new verdicts are stored beside the submissions, not over them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from .ids import new_public_id, validate_public_id
from .states import Outcome


class RegradeState(models.TextChoices):
    GRADING = "grading", "being graded"
    GRADED = "graded", "graded, nothing changed yet"
    COMMITTED = "committed", "committed"
    UNDONE = "undone", "undone"


class RegradeScope(models.TextChoices):
    """Which of the differing results a commit applies."""

    ALL = "all", "all results that differ"
    NOT_LOWER = "not_lower", "results that do not lower a score"


class RegradeItemState(models.TextChoices):
    WAITING = "waiting", "waiting for its verdict"
    GRADED = "graded", "graded"
    APPLIED = "applied", "taken over"
    LEFT = "left", "left as it was"
    CHANGED = "changed", "left alone: it changed meanwhile"
    UNDONE = "undone", "taken over, then taken back"


class RegradeRun(models.Model):
    """A dry run over selected submissions, and its commit or undo."""

    public_id = models.CharField(
        "id",
        max_length=16,
        unique=True,
        default=new_public_id,
        editable=False,
        validators=[validate_public_id],
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="regrade_runs",
    )
    filter = models.JSONField(default=dict, help_text="How the submissions were chosen.")
    left_out = models.PositiveIntegerField(
        default=0,
        help_text="How many of the choice are not graded again: open, held for review, decided by "
        "a person, or with a person's score.",
    )
    state = models.CharField(
        max_length=16, choices=RegradeState.choices, default=RegradeState.GRADING
    )
    scope = models.CharField(
        max_length=16, choices=RegradeScope.choices, blank=True, help_text="What was committed."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    graded_at = models.DateTimeField(null=True, blank=True)
    committed_at = models.DateTimeField(null=True, blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-id")
        default_permissions = ("view",)
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=RegradeState.values), name="grader_regrade_state_known"
            ),
            # A double click starts one run, not two.
            models.UniqueConstraint(
                fields=["created_by"],
                condition=Q(state=RegradeState.GRADING),
                name="grader_regrade_one_at_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"regrade {self.public_id} ({self.get_state_display()})"

    def get_absolute_url(self) -> str:
        return reverse("admin:grader_regraderun_change", args=[self.pk])

    @property
    def committed_scope(self) -> str | None:
        return self.scope or None


class RegradeItem(models.Model):
    """One submission of a run: its former result, and that of grading it again."""

    CHANGES = (
        ("waiting", "waiting for its verdict"),
        ("raised", "the score would rise"),
        ("lowered", "the score would fall"),
        ("renamed", "another outcome, the same score"),
        ("same", "no difference"),
        ("failed", "could not be graded again"),
    )

    public_id = models.CharField(
        "id", max_length=16, unique=True, default=new_public_id, editable=False
    )
    run = models.ForeignKey(RegradeRun, on_delete=models.CASCADE, related_name="items")
    submission = models.ForeignKey(
        "grader.Submission", on_delete=models.CASCADE, related_name="regrade_items"
    )
    state = models.CharField(
        max_length=16, choices=RegradeItemState.choices, default=RegradeItemState.WAITING
    )
    # The submission as the run found it. A commit asks for this version, so that nothing that
    # happened since is overwritten; an undo asks for the one that the commit made.
    submission_version = models.PositiveIntegerField()
    applied_version = models.PositiveIntegerField(null=True, blank=True)
    old_outcome = models.CharField(max_length=16, choices=Outcome.choices)
    old_score = models.FloatField(null=True, blank=True)
    old_report = models.JSONField(default=dict, blank=True)
    outcome = models.CharField(max_length=16, choices=Outcome.choices, blank=True)
    score = models.FloatField(null=True, blank=True)
    report = models.JSONField(default=dict, blank=True)
    graded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("run_id", "id")
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(
                fields=["run", "submission"], name="grader_regrade_submission_once"
            ),
            models.CheckConstraint(
                condition=Q(state__in=RegradeItemState.values),
                name="grader_regrade_item_state_known",
            ),
            models.CheckConstraint(
                condition=(
                    Q(state=RegradeItemState.WAITING, outcome="")
                    | (~Q(state=RegradeItemState.WAITING) & Q(outcome__in=Outcome.values))
                ),
                name="grader_regrade_item_graded_has_outcome",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.submission_id} in run {self.run_id}: {self.state}"

    @property
    def differs(self) -> bool:
        """Whether outcome or score differ; a failure of the platform does not count."""
        if not self.outcome or self.outcome == Outcome.NOT_GRADABLE:
            return False
        return (self.outcome, self.score) != (self.old_outcome, self.old_score)

    @property
    def lowers(self) -> bool:
        """Whether the learner would have a lower score, or none any more."""
        if not self.differs:
            return False
        return self.score is None or (self.old_score is not None and self.score < self.old_score)

    @property
    def change(self) -> str:
        """Which of `CHANGES` a full commit means for the submission."""
        if self.state == RegradeItemState.WAITING:
            return "waiting"
        if self.outcome == Outcome.NOT_GRADABLE:
            return "failed"
        if not self.differs:
            return "same"
        if self.lowers:
            return "lowered"
        return "raised" if self.old_score is None or self.score != self.old_score else "renamed"

    def get_change_display(self) -> str:
        return dict(self.CHANGES)[self.change]
