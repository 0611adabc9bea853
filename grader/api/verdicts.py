"""Serializers of second verdicts and of comparisons of two gradings."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from grader.models import NodeKind, Outcome, Phase, SubmissionState
from grader.presentation.parity import Agreement
from grader.presentation.result_view import ResultView

from .reports import ReportField

AGREEMENTS = [(each.value, each.value) for each in Agreement]


class SecondVerdictSerializer(serializers.Serializer[Any]):
    """The verdict of the kind of node that does not count for the lesson."""

    # From a `ResultView`.

    kind = serializers.ChoiceField(NodeKind.choices)
    state = serializers.ChoiceField(
        SubmissionState.choices,
        help_text="`replaced`: a newer submission took its place before a node took it; there is "
        "no outcome then, and `resubmit/` asks for it again.",
    )
    phase = serializers.SerializerMethodField()
    case = serializers.IntegerField(source="verdict.case")
    cases = serializers.IntegerField(source="verdict.cases")
    queue_position = serializers.IntegerField(allow_null=True, min_value=1)
    estimated_seconds = serializers.FloatField(allow_null=True, min_value=0)
    outcome = serializers.ChoiceField(Outcome.choices, allow_null=True)
    score = serializers.FloatField(
        source="verdict.score", allow_null=True, min_value=0, max_value=1
    )
    message = serializers.CharField(
        help_text="What the state or outcome means, in words; also that no GPU node is connected."
    )
    claimed_at = serializers.DateTimeField(source="verdict.claimed_at", allow_null=True)
    finished_at = serializers.DateTimeField(source="verdict.finished_at", allow_null=True)
    report = ReportField()

    @extend_schema_field({"type": ["string", "null"], "enum": [*Phase.values, None]})
    def get_phase(self, view: ResultView) -> str | None:
        return view.verdict.phase or None


class DifferenceSerializer(serializers.Serializer[Any]):
    """One result of a public case on both sides, and where it differs most."""

    case = serializers.CharField()
    quantity = serializers.CharField()
    agreement = serializers.ChoiceField(
        AGREEMENTS,
        help_text="`same` number by number; `within` what a correct result may be off; "
        "`different` by more; `missing` on one side, or of another shape.",
    )
    missing_on = serializers.ChoiceField(
        ["left", "right", ""],
        help_text="Which side lacks the result; empty where both have one, also of other shapes.",
    )
    units = serializers.FloatField(
        allow_null=True, help_text="The largest difference, in units; null if not finite."
    )
    limit = serializers.FloatField(allow_null=True)
    index = serializers.ListField(child=serializers.IntegerField())
    left = serializers.FloatField(allow_null=True)
    right = serializers.FloatField(allow_null=True)


class GroupPairSerializer(serializers.Serializer[Any]):
    """How many cases of a group passed on both sides."""

    id = serializers.CharField()
    title = serializers.CharField()
    left_passed = serializers.IntegerField()
    left_cases = serializers.IntegerField()
    right_passed = serializers.IntegerField()
    right_cases = serializers.IntegerField()


class ParitySerializer(serializers.Serializer[Any]):
    """How two gradings compare."""

    # From a `ParityView`.

    basis = serializers.ChoiceField(
        [("kinds", "two kinds of nodes"), ("tracks", "two tracks")],
        help_text="`kinds`: a processor (left) and a GPU (right) on this submission. `tracks`: "
        "this submission (left) and the learner's `other` one (right).",
    )
    left = serializers.CharField()
    right = serializers.CharField()
    other = serializers.SerializerMethodField()
    agrees = serializers.BooleanField(
        source="parity.agrees",
        help_text="Whether every result is on both sides and within the tolerance of the other: "
        "false also where those that can be compared agree and others are missing.",
    )
    summary = serializers.CharField()
    results = DifferenceSerializer(source="parity.results", many=True)
    groups = GroupPairSerializer(source="parity.groups", many=True)

    @extend_schema_field({"type": ["string", "null"]})
    def get_other(self, view: Any) -> str | None:
        return view.other_id or None
