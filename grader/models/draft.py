"""The text in an exercise's editor, as the learner last left it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from .states import Track


class Draft(models.Model):
    """One text per learner, exercise and track. `version` grows with each stored text."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="drafts"
    )
    exercise = models.ForeignKey("grader.Exercise", on_delete=models.CASCADE, related_name="drafts")
    track = models.CharField(max_length=16, choices=Track.choices)
    source = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=1)
    replaced_source = models.TextField(
        blank=True, help_text="The text that was knowingly replaced last, kept for another look."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("-updated_at", "-id")
        constraints = [
            models.UniqueConstraint(
                fields=["user", "exercise", "track"], name="grader_draft_one_each"
            ),
            models.CheckConstraint(
                condition=Q(track__in=Track.values), name="grader_draft_track_known"
            ),
        ]

    def __str__(self) -> str:
        return f"draft {self.version} of exercise {self.exercise_id}, {self.track}"
