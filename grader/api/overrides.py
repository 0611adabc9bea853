"""A grader's score as the API shows it."""

from __future__ import annotations

from rest_framework import serializers

from grader.models import ScoreOverride


class OverrideSerializer(serializers.ModelSerializer[ScoreOverride]):
    """The score that a grader gave, why, and what the grading had given."""

    class Meta:
        model = ScoreOverride
        fields = ("score", "graded_score", "reason", "created_at")
        read_only_fields = fields
