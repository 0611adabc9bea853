"""The check that an exercise must pass before learners see it, asked for by an author."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from .ids import new_lease, new_public_id


class CheckState(models.TextChoices):
    WAITING = "waiting", "waits for its turn"
    RUNNING = "running", "is being checked"
    PASSED = "passed", "passed, and published"
    FAILED = "failed", "not published"
    WITHDRAWN = "withdrawn", "withdrawn"

    @classmethod
    def open(cls) -> list[CheckState]:
        return [cls.WAITING, cls.RUNNING]


class ExerciseCheck(models.Model):
    """One check of the programs stored beside an exercise, on a worker, a few steps at a time.

    `digest` is what was checked: of the exercise and the engine as the site had them. What was
    found out holds as long as they are the same; empty where nothing was found out.
    `next_step` is the place that a worker was last asked to go on from, of `steps` (0: not known
    yet). `sent_at` is when it was asked; empty means that it is yet to be asked. `tries` counts how
    often it was asked for this very place.
    """

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    lease = models.CharField(max_length=64, unique=True, default=new_lease, editable=False)
    exercise = models.ForeignKey("grader.Exercise", on_delete=models.CASCADE, related_name="checks")
    slug = models.SlugField(max_length=64, help_text="The engine's exercise that is checked.")
    digest = models.CharField(max_length=64, blank=True, default="", editable=False)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    state = models.CharField(max_length=16, choices=CheckState.choices, default=CheckState.WAITING)
    next_step = models.PositiveIntegerField(default=0)
    steps = models.PositiveIntegerField(default=0)
    graded = models.PositiveIntegerField(default=0)
    complaints = models.JSONField(default=list)
    survived = models.TextField(blank=True)
    left_out = models.TextField(blank=True)
    node = models.CharField(max_length=200, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    sent_at = models.DateTimeField(null=True)
    reason = models.TextField(blank=True, help_text="What speaks against publishing.")
    asked_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    told_at = models.DateTimeField(null=True, help_text="When whoever asked saw the outcome.")

    class Meta:
        ordering = ("-id",)
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["exercise"],
                condition=Q(state__in=["waiting", "running"]),
                name="grader_check_one_open_each",
            ),
            models.UniqueConstraint(
                fields=["state"], condition=Q(state="running"), name="grader_check_one_runs"
            ),
            models.CheckConstraint(
                condition=Q(state__in=CheckState.values), name="grader_check_state_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.slug}: {self.get_state_display()}"

    @property
    def is_open(self) -> bool:
        return self.state in CheckState.open()

    @property
    def why_not_published(self) -> str:
        """What the exercise waits for, or what speaks against it; "" where it is published."""
        return self.reason or (self.progress if self.is_open else "")

    @property
    def progress(self) -> str:
        """How far it is, in words; for one that has ended, how it ended, without the reason."""
        if self.state != CheckState.RUNNING:
            return str(self.get_state_display())
        if not self.steps:
            return "is being checked: waits for a worker"
        return f"is being checked: {self.next_step} of {self.steps} programs graded"
