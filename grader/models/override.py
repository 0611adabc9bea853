"""A score that a person gave in place of the grading's."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q


class ScoreOverride(models.Model):
    """While it is there, the submission's score is this one. The outcome stays the grading's."""

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
