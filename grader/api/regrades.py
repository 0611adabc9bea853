"""Serializers of regrades."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from grader import queries
from grader.models import (
    Outcome,
    RegradeItem,
    RegradeItemState,
    RegradeRun,
    RegradeScope,
    RegradeState,
    Submission,
    SubmissionState,
    Track,
)

from .common import LINKS, Linked
from .fields import (
    StrictBooleanField,
    StrictCharField,
    StrictFloatField,
    StrictMomentField,
    StrictSerializer,
)
from .filters import SubmissionFilter


class RegradeFilterSerializer(StrictSerializer):
    """Which submissions: the filters of the list of submissions, by the same names."""

    exercise = StrictCharField(required=False)
    track = serializers.ChoiceField(Track.choices, required=False)
    learner = StrictCharField(required=False)
    state = serializers.ChoiceField(SubmissionState.choices, required=False)
    outcome = serializers.ChoiceField(Outcome.choices, required=False)
    score_min = StrictFloatField(min_value=0, max_value=1, required=False)
    score_max = StrictFloatField(min_value=0, max_value=1, required=False)
    created_after = StrictMomentField(required=False)
    created_before = StrictMomentField(required=False)
    late = StrictBooleanField(required=False)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Return the values as they were sent: they are kept with the run as they are."""
        super().to_internal_value(data)
        return dict(data)


class NewRegradeSerializer(StrictSerializer):
    """A choice of submissions to grade again, as a dry run."""

    dry_run = StrictBooleanField(
        help_text="True: a regrade begins as a dry run, and is committed when it is graded."
    )
    filter = RegradeFilterSerializer()

    def validate_dry_run(self, value: bool) -> bool:
        if not value:
            raise serializers.ValidationError(
                "A regrade begins as a dry run: send true, look at the result, then commit it."
            )
        return value

    def submissions(self) -> Any:
        """Return the submissions chosen, once the serializer is valid."""
        wanted = self.validated_data["filter"]
        # JSON's true and false are written in an address as they are in JSON.
        texts = {
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in wanted.items()
        }
        chosen = SubmissionFilter(texts, Submission.objects.all())
        if not chosen.is_valid():
            raise serializers.ValidationError({"filter": chosen.errors})
        return chosen.qs


class CommitSerializer(StrictSerializer):
    """How much of a graded run is taken over."""

    scope = serializers.ChoiceField(RegradeScope.choices)


class RegradeSummarySerializer(Linked):
    """A run in a list."""

    id = serializers.CharField(source="public_id")
    state = serializers.ChoiceField(RegradeState.choices)
    scope = serializers.ChoiceField(
        RegradeScope.choices,
        source="committed_scope",
        allow_null=True,
        help_text="What was committed.",
    )
    filter = serializers.SerializerMethodField()
    created_by = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()
    graded_at = serializers.DateTimeField(allow_null=True)
    committed_at = serializers.DateTimeField(allow_null=True)
    undone_at = serializers.DateTimeField(allow_null=True)
    left_out = serializers.IntegerField(
        help_text="Of the choice, not graded again: open, held for review, decided by a person, "
        "or with a person's score."
    )
    links = serializers.SerializerMethodField()

    @extend_schema_field({"type": "object", "additionalProperties": True})
    def get_filter(self, run: RegradeRun) -> dict[str, Any]:
        return dict(run.filter)

    @extend_schema_field({"type": ["string", "null"]})
    def get_created_by(self, run: RegradeRun) -> str | None:
        return run.created_by.get_username() if run.created_by else None

    @extend_schema_field(LINKS)
    def get_links(self, run: RegradeRun) -> dict[str, str]:
        return {
            "self": self._url("api:regrade", run.public_id),
            "items": self._url("api:regrade-items", run.public_id),
            "page": self.context["request"].build_absolute_uri(run.get_absolute_url()),
        }


class RegradeSerializer(RegradeSummarySerializer):
    """A run with its numbers."""

    changes = serializers.SerializerMethodField(
        help_text="How many submissions would have, or had, which change."
    )
    states = serializers.SerializerMethodField(
        help_text="How many submissions are where: waiting, graded, applied, left, changed, undone."
    )

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "integer"}})
    def get_changes(self, run: RegradeRun) -> dict[str, int]:
        return queries.regrade_numbers(run).changes

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "integer"}})
    def get_states(self, run: RegradeRun) -> dict[str, int]:
        return queries.regrade_numbers(run).states


RESULT = {
    "type": "object",
    "required": ["outcome", "score"],
    "properties": {
        "outcome": {"type": ["string", "null"], "enum": [*Outcome.values, None]},
        "score": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
    },
}


class RegradeItemSerializer(serializers.Serializer[Any]):
    """One submission of a run: what it had, and what grading it again gave."""

    submission = serializers.CharField(source="submission.public_id")
    learner = serializers.CharField(source="submission.user.username")
    exercise = serializers.CharField(source="submission.exercise.slug")
    track = serializers.ChoiceField(Track.choices, source="submission.track")
    state = serializers.ChoiceField(RegradeItemState.choices)
    change = serializers.ChoiceField(RegradeItem.CHANGES)
    old = serializers.SerializerMethodField()
    new = serializers.SerializerMethodField()
    graded_at = serializers.DateTimeField(allow_null=True)

    @extend_schema_field(RESULT)
    def get_old(self, item: RegradeItem) -> dict[str, Any]:
        return {"outcome": item.old_outcome, "score": item.old_score}

    @extend_schema_field(RESULT)
    def get_new(self, item: RegradeItem) -> dict[str, Any]:
        return {"outcome": item.outcome or None, "score": item.score}
