"""Serializers of runs: a program, or the public cases, without an attempt."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from courses.models import Chapter
from grader.limits import MAX_SOURCE_BYTES
from grader.models import CodeRun, Exercise, RunKind, RunOutcome, RunState, Track
from grader.presentation.run_result import RunResult

from .fields import SourceField, StrictCharField, StrictSerializer

LINKS = {"type": "object", "additionalProperties": {"type": "string", "format": "uri"}}
WHAT_TO_RUN = "Send a source, or name a chapter and one of its listings."


class NewRunSerializer(StrictSerializer):
    """JSON. With `exercise` its public cases are run, without it the source as a program."""

    exercise = StrictCharField(
        required=False,
        max_length=Exercise.slug.field.max_length,
        help_text="The slug of the exercise whose public cases are run.",
    )
    track = StrictCharField(
        required=False, max_length=16, help_text="With an exercise: numpy (if not given) or cupy."
    )
    source = SourceField(  # type: ignore[assignment]  # a field, not the attribute
        required=False,
        help_text=f"One Python file as text, at most {MAX_SOURCE_BYTES} bytes in UTF-8.",
    )
    chapter = StrictCharField(
        required=False,
        max_length=Chapter.slug.field.max_length,
        help_text="In place of a source: the slug of a chapter, with `listing`.",
    )
    listing = StrictCharField(
        required=False, max_length=200, help_text="The file name of a listing of the chapter."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "track" in attrs and "exercise" not in attrs:
            raise serializers.ValidationError(
                {"track": ["A track belongs to an exercise. Name the exercise, or leave it out."]}
            )
        named = ("chapter" in attrs, "listing" in attrs)
        sources = sum(name in attrs for name in ("source", "file"))
        if sources + all(named) != 1 or any(named) != all(named):
            raise serializers.ValidationError({"source": [WHAT_TO_RUN]})
        return attrs


class NewRunUploadSerializer(NewRunSerializer):
    """A form, with the source as `file`."""

    file = serializers.FileField(required=False, allow_empty_file=True)


class RunReportField(serializers.Field[Any, Any, Any, Any]):
    """What a run showed, null while it has not ended."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(source="*", read_only=True, **kwargs)

    def to_representation(self, value: CodeRun) -> dict[str, Any] | None:
        return dict(value.report) if value.is_final else None


class RunSerializer(serializers.Serializer[CodeRun]):
    """One run, and what came of it. It counts nowhere, and is kept for a day."""

    id = serializers.CharField(source="public_id")
    kind = serializers.ChoiceField(RunKind.choices)
    exercise = serializers.SerializerMethodField()
    track = serializers.ChoiceField(Track.choices)
    state = serializers.ChoiceField(RunState.choices)
    outcome = serializers.ChoiceField(RunOutcome.choices, allow_null=True)
    message = serializers.SerializerMethodField(help_text="The result in a few words.")
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    report = RunReportField()
    links = serializers.SerializerMethodField()

    @extend_schema_field({"type": ["string", "null"]})
    def get_exercise(self, run: CodeRun) -> str | None:
        return run.exercise.slug if run.exercise else None

    def get_message(self, run: CodeRun) -> str:
        return f"{RunResult(run).label}."

    @extend_schema_field(LINKS)
    def get_links(self, run: CodeRun) -> dict[str, str]:
        absolute = self.context["request"].build_absolute_uri
        return {
            "self": absolute(reverse("api:run", args=[run.public_id])),
            "page": absolute(run.get_absolute_url()),
        }
