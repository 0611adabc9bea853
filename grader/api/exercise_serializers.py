"""Serializers of exercises."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from courses.subpath import below_site
from grader import deadlines, waiting
from grader.models import Exercise, Track
from grader.registry import find_spec

from .common import LINKS, MOMENT_OR_NULL, Linked, moment

TRACKS = serializers.ListField(child=serializers.ChoiceField(Track.choices))


class ExerciseSummarySerializer(Linked):
    """An exercise in a list."""

    slug = serializers.CharField()
    title = serializers.CharField()
    summary_html = serializers.SerializerMethodField()
    chapter = serializers.SerializerMethodField(help_text="The chapter's slug.")
    accepts_submissions = serializers.BooleanField()
    due_at = serializers.SerializerMethodField(
        help_text="Until when the caller's submissions are in time, an extension of theirs in it; "
        "null without a deadline. Later ones are graded too."
    )
    tracks = serializers.SerializerMethodField()
    links = serializers.SerializerMethodField()

    def get_summary_html(self, exercise: Exercise) -> str:
        return below_site(exercise.summary_html)

    @extend_schema_field({"type": ["string", "null"]})
    def get_chapter(self, exercise: Exercise) -> str | None:
        return exercise.chapter.slug if exercise.chapter else None

    @extend_schema_field(MOMENT_OR_NULL)
    def get_due_at(self, exercise: Exercise) -> str | None:
        return moment(deadlines.deadline_for(exercise, self.context["request"].user))

    @extend_schema_field(TRACKS)
    def get_tracks(self, exercise: Exercise) -> list[str]:
        spec = find_spec(exercise.slug)
        return [str(track) for track in spec.tracks] if spec else []

    @extend_schema_field(LINKS)
    def get_links(self, exercise: Exercise) -> dict[str, str]:
        return {
            "self": self._url("api:exercise", exercise.slug),
            "submissions": self._url("api:submit", exercise.slug),
            "page": self._url("grader:exercise", exercise.slug),
        }


class GroupSerializer(serializers.Serializer[Any]):
    """A weighted group of cases."""

    id = serializers.CharField()
    title = serializers.CharField()
    weight = serializers.FloatField(min_value=0, max_value=1)


class PublicCaseSerializer(serializers.Serializer[Any]):
    """A case that everybody may see, with its inputs."""

    id = serializers.CharField()
    title = serializers.CharField()
    dtype = serializers.CharField()
    x = serializers.JSONField()
    dout = serializers.JSONField(allow_null=True)
    parameters = serializers.JSONField()
    eps = serializers.FloatField(allow_null=True)


class ExerciseSerializer(ExerciseSummarySerializer):
    """The contract of an exercise."""

    # From the grading engine's registry.

    statement_html = serializers.SerializerMethodField()
    class_name = serializers.SerializerMethodField()
    parameters = serializers.SerializerMethodField()
    gradients = serializers.SerializerMethodField()
    limits = serializers.SerializerMethodField(help_text="Of the NumPy track.")
    limits_by_track = serializers.SerializerMethodField(help_text="Per track, its limits.")
    groups = serializers.SerializerMethodField()
    public_cases = serializers.SerializerMethodField()
    starters = serializers.SerializerMethodField(help_text="Per track, the file to begin from.")
    tracks_available = serializers.SerializerMethodField(
        help_text="The tracks that a connected worker grades at the moment."
    )

    def get_statement_html(self, exercise: Exercise) -> str:
        return below_site(exercise.statement_html)

    @extend_schema_field({"type": ["string", "null"]})
    def get_class_name(self, exercise: Exercise) -> str | None:
        spec = find_spec(exercise.slug)
        return spec.class_name if spec else None

    @extend_schema_field({"type": "array", "items": {"type": "string"}})
    def get_parameters(self, exercise: Exercise) -> list[str]:
        spec = find_spec(exercise.slug)
        return list(spec.parameters) if spec else []

    @extend_schema_field({"type": "array", "items": {"type": "string"}})
    def get_gradients(self, exercise: Exercise) -> list[str]:
        spec = find_spec(exercise.slug)
        return list(spec.gradients) if spec else []

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "number"}})
    def get_limits(self, exercise: Exercise) -> dict[str, float]:
        spec = find_spec(exercise.slug)
        return dict(spec.limits) if spec else {}

    @extend_schema_field(
        {
            "type": "object",
            "additionalProperties": {"type": "object", "additionalProperties": {"type": "number"}},
        }
    )
    def get_limits_by_track(self, exercise: Exercise) -> dict[str, dict[str, float]]:
        spec = find_spec(exercise.slug)
        return {str(track): dict(spec.limits_for(track)) for track in spec.tracks} if spec else {}

    @extend_schema_field(GroupSerializer(many=True))
    def get_groups(self, exercise: Exercise) -> Any:
        spec = find_spec(exercise.slug)
        return GroupSerializer(spec.groups if spec else (), many=True).data

    @extend_schema_field(PublicCaseSerializer(many=True))
    def get_public_cases(self, exercise: Exercise) -> Any:
        spec = find_spec(exercise.slug)
        return PublicCaseSerializer(spec.public_cases if spec else (), many=True).data

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "string"}})
    def get_starters(self, exercise: Exercise) -> dict[str, str]:
        spec = find_spec(exercise.slug)
        return {str(track): spec.starter(track) for track in spec.tracks} if spec else {}

    @extend_schema_field(TRACKS)
    def get_tracks_available(self, exercise: Exercise) -> list[str]:
        available = waiting.tracks_available()
        return [track for track in self.get_tracks(exercise) if track in available]
