"""Serializers of tokens, chapters and submissions."""

from __future__ import annotations

from typing import Any

from django.core.files.uploadedfile import UploadedFile
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from courses.models import Chapter
from grader import deadlines, queries
from grader.limits import MAX_SOURCE_BYTES
from grader.models import (
    ApiToken,
    NodeKind,
    Outcome,
    Phase,
    Scope,
    ScoreOverride,
    Submission,
    SubmissionState,
    Track,
)
from grader.services.decide import MAX_REASON_CHARACTERS, SCORES

from .common import LINKS, MOMENT_OR_NULL, Linked, moment
from .fields import SourceField, StrictCharField, StrictMomentField, StrictSerializer
from .reports import ReportField
from .verdicts import ParitySerializer, SecondVerdictSerializer

DECISION = {
    "type": ["object", "null"],
    "required": ["reason", "decided_at"],
    "properties": {
        "reason": {"type": "string"},
        "decided_at": {"type": "string", "format": "date-time"},
    },
}


class OverrideSerializer(serializers.ModelSerializer[ScoreOverride]):
    """The score that a grader gave, why, and what the grading had given."""

    class Meta:
        model = ScoreOverride
        fields = ("score", "graded_score", "reason", "created_at")
        read_only_fields = fields


class ProblemSerializer(serializers.Serializer[Any]):
    """An RFC 9457 problem document."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    code = serializers.CharField()
    errors = serializers.DictField(  # type: ignore[assignment]  # a field, not the property
        child=serializers.ListField(child=serializers.CharField()), required=False
    )


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    """A token, without the token itself."""

    id = serializers.CharField(source="public_id", read_only=True)
    scopes = serializers.ListField(child=serializers.ChoiceField(Scope.choices))

    class Meta:
        model = ApiToken
        fields = (
            "id",
            "name",
            "hint",
            "scopes",
            "created_at",
            "expires_at",
            "last_used_at",
            "revoked_at",
        )
        read_only_fields = fields


class NewTokenSerializer(StrictSerializer):
    """A token to make: what it is for, what it may do, until when."""

    name = StrictCharField(max_length=100)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(Scope.choices), allow_empty=False, max_length=len(Scope)
    )
    expires_at = StrictMomentField(required=False, allow_null=True, default=None)


class CreatedTokenSerializer(TokenSerializer):
    """The only answer that holds the token itself."""

    token = serializers.CharField(read_only=True)

    class Meta(TokenSerializer.Meta):
        fields = ("token", *TokenSerializer.Meta.fields)  # type: ignore[assignment]
        read_only_fields = fields  # type: ignore[assignment]


class ChapterSummarySerializer(Linked):
    """A published chapter in a list."""

    slug = serializers.CharField()
    course = serializers.CharField(source="course.slug")
    title = serializers.SerializerMethodField()
    minutes = serializers.IntegerField()
    revision = serializers.IntegerField(source="current_revision.number")
    links = serializers.SerializerMethodField()

    def get_title(self, chapter: Chapter) -> str:
        revision = chapter.current_revision
        return str(revision.page["title"]) if revision else chapter.title

    @extend_schema_field(LINKS)
    def get_links(self, chapter: Chapter) -> dict[str, str]:
        return {
            "self": self._url("api:chapter", chapter.slug),
            "page": self._url("courses:chapter", chapter.course.slug, chapter.slug),
        }


class ChapterSerializer(ChapterSummarySerializer):
    """A published chapter with its page."""

    page = serializers.SerializerMethodField(
        help_text="The published page as HTML pieces, as readers see it; no answers."
    )
    exercises = serializers.SerializerMethodField()

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_page(self, chapter: Chapter) -> dict[str, Any]:
        revision = chapter.current_revision
        return dict(revision.page) if revision else {}

    @extend_schema_field({"type": "array", "items": {"type": "string"}})
    def get_exercises(self, chapter: Chapter) -> list[str]:
        published = queries.published_exercises().filter(chapter=chapter)
        return list(published.order_by("position", "slug").values_list("slug", flat=True))


class NewSubmissionSerializer(StrictSerializer):
    """JSON with `source`."""

    track = StrictCharField(max_length=16, help_text="numpy or cupy, as the exercise offers.")
    source = SourceField(  # type: ignore[assignment]  # a field, not the attribute
        help_text=f"One Python file as text, at most {MAX_SOURCE_BYTES} bytes in UTF-8."
    )


class NewUploadSerializer(StrictSerializer):
    """A form with `file`, or with `source` as text. A file sent as `source` is taken as one."""

    track = StrictCharField(max_length=16)
    file = serializers.FileField(required=False, allow_empty_file=True)
    source = SourceField(required=False)  # type: ignore[assignment]

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data.get("source"), UploadedFile) and "file" not in data:
            data = {**data.dict(), "file": data["source"]}
            del data["source"]
        return super().to_internal_value(data)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("file" in attrs) == ("source" in attrs):
            raise serializers.ValidationError({"file": ["Send a file, or the source as text."]})
        return attrs


class NewDecisionSerializer(StrictSerializer):
    """A grader's decision on a submission that is held for review."""

    outcome = serializers.ChoiceField([(o.value, o.label) for o in SCORES])
    reason = StrictCharField(
        max_length=MAX_REASON_CHARACTERS, help_text="What the learner reads: why it is decided so."
    )


class SubmissionSummarySerializer(Linked):
    """A submission in a list."""

    id = serializers.CharField(source="public_id")
    exercise = serializers.CharField(source="exercise.slug")
    track = serializers.ChoiceField(Track.choices)
    kind = serializers.ChoiceField(
        NodeKind.choices, help_text="Which kind of node the verdict that counts is from."
    )
    learner = serializers.CharField(source="user.username")
    state = serializers.ChoiceField(SubmissionState.choices)
    phase = serializers.SerializerMethodField()
    outcome = serializers.ChoiceField(Outcome.choices, allow_null=True)
    score = serializers.FloatField(allow_null=True, min_value=0, max_value=1)
    source_sha256 = serializers.CharField()
    created_at = serializers.DateTimeField()
    due_at = serializers.SerializerMethodField(
        help_text="Until when this learner's submissions to the exercise are in time; null without "
        "a deadline."
    )
    late = serializers.SerializerMethodField(
        help_text="Whether `created_at` is after the minute of `due_at`. When it was graded "
        "plays no part."
    )
    claimed_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    links = serializers.SerializerMethodField()

    @extend_schema_field(MOMENT_OR_NULL)
    def get_due_at(self, submission: Submission) -> str | None:
        return moment(deadlines.deadline_of(submission))

    def get_late(self, submission: Submission) -> bool:
        return deadlines.is_late(submission)

    @extend_schema_field({"type": ["string", "null"], "enum": [*Phase.values, None]})
    def get_phase(self, submission: Submission) -> str | None:
        return submission.phase or None

    @extend_schema_field(LINKS)
    def get_links(self, submission: Submission) -> dict[str, str]:
        return {
            "self": self._url("api:submission", submission.public_id),
            "source": self._url("api:source", submission.public_id),
            "events": self._url("api:events", submission.public_id),
            "page": self._url("grader:submission", submission.public_id),
            "exercise": self._url("api:exercise", submission.exercise.slug),
        }


class SubmissionSerializer(SubmissionSummarySerializer):
    """One submission with its report."""

    # `context["page"]` is its `SubmissionPage`.

    queue_position = serializers.SerializerMethodField(
        help_text="1 is served next; null once a worker has it."
    )
    estimated_seconds = serializers.SerializerMethodField(
        help_text="About how long until the verdict, by the latest gradings; null where it is "
        "there, a worker has it, or nothing tells."
    )
    message = serializers.SerializerMethodField(
        help_text="What the state or outcome means and what to do, in words."
    )
    case = serializers.IntegerField()
    cases = serializers.IntegerField()
    second_verdict = serializers.SerializerMethodField(
        help_text="The verdict of the other kind of node on the CuPy track, as far as it is: it "
        "does not count for the lesson. Null on other tracks."
    )
    parity = serializers.SerializerMethodField(
        help_text="How the results compare with those of the other kind of node, and of the "
        "learner's submission on the other track, where there are both."
    )
    counts_as_attempt = serializers.SerializerMethodField()
    grading_attempts = serializers.SerializerMethodField(
        help_text="How often a worker was given it."
    )
    decision = serializers.SerializerMethodField(
        help_text="A grader's decision on a submission that was held for review, else null."
    )
    override = OverrideSerializer(
        allow_null=True, help_text="The score that a grader gave in place of the grading's."
    )
    report = ReportField()

    def to_representation(self, submission: Submission) -> Any:
        """Report it as running while mistakes are still being named, so that clients wait for the
        names.

        Outcome, score and findings are final by then.
        """
        data = super().to_representation(submission)
        if (data["report"] or {}).get("naming"):
            data["state"] = SubmissionState.RUNNING.value
        return data

    @extend_schema_field({"type": ["integer", "null"], "minimum": 1})
    def get_queue_position(self, submission: Submission) -> int | None:
        position: int | None = self.context["page"].queue_position
        return position

    @extend_schema_field({"type": ["number", "null"], "minimum": 0})
    def get_estimated_seconds(self, submission: Submission) -> float | None:
        seconds: float | None = self.context["page"].estimated_seconds
        return seconds

    def get_message(self, submission: Submission) -> str:
        return str(self.context["page"].message)

    @extend_schema_field(SecondVerdictSerializer(allow_null=True))
    def get_second_verdict(self, submission: Submission) -> Any:
        second = self.context["page"].second
        return SecondVerdictSerializer(second, context=self.context).data if second else None

    @extend_schema_field(ParitySerializer(many=True))
    def get_parity(self, submission: Submission) -> Any:
        return ParitySerializer(self.context["page"].parities, many=True).data

    @extend_schema_field({"type": ["boolean", "null"]})
    def get_counts_as_attempt(self, submission: Submission) -> bool | None:
        return submission.outcome != Outcome.NOT_GRADABLE if submission.outcome else None

    @extend_schema_field(DECISION)
    def get_decision(self, submission: Submission) -> dict[str, Any] | None:
        if submission.decided_at is None:
            return None
        return {
            "reason": submission.decision_reason,
            "decided_at": moment(submission.decided_at),
        }

    def get_grading_attempts(self, submission: Submission) -> int:
        return submission.attempts.filter(regrade_item__isnull=True).count()
