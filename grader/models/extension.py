"""Deadline extensions for single learners."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Extension(models.Model):
    """One learner's deadline for an exercise; the exercise's own applies if it is later."""

    exercise = models.ForeignKey(
        "grader.Exercise", on_delete=models.CASCADE, related_name="extensions"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        verbose_name="learner",
        on_delete=models.CASCADE,
        related_name="extensions",
    )
    due_at = models.DateTimeField("extended until")
    reason = models.TextField(help_text="For graders; the learner sees the new deadline alone.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-created_at", "-id")
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(
                fields=["exercise", "user"], name="grader_extension_one_per_learner"
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="grader_extension_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.exercise} until {self.due_at:%Y-%m-%d %H:%M} UTC"
