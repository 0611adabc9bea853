"""`submissions/{id}/events/`: what happened to a submission, in order."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from grader.api.base import ApiView, problems
from grader.events import Event, EventKind, events_of
from grader.models import Outcome, Scope

from .submissions import visible


class EventSerializer(serializers.Serializer[Event]):
    """One thing that happened; what a kind has no word for is null."""

    number = serializers.IntegerField(min_value=1, help_text="From 1, without gaps; it stays.")
    kind = serializers.ChoiceField(EventKind.choices)
    at = serializers.DateTimeField()
    text = serializers.CharField(source="kind.label")
    attempt = serializers.IntegerField(source="detail.attempt", allow_null=True, default=None)
    outcome = serializers.ChoiceField(
        Outcome.choices, source="detail.outcome", allow_null=True, default=None
    )
    score = serializers.FloatField(source="detail.score", allow_null=True, default=None)
    reason = serializers.CharField(source="detail.reason", allow_null=True, default=None)
    regrade = serializers.CharField(source="detail.regrade", allow_null=True, default=None)


class EventsSerializer(serializers.Serializer[Any]):
    """The events after `after`."""

    events = EventSerializer(many=True)
    last = serializers.IntegerField(help_text="Send it as `after` to go on from here.")
    is_final = serializers.BooleanField(
        help_text="Whether the submission has its outcome. A person may still change that."
    )


class AfterSerializer(serializers.Serializer[Any]):
    after = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=0)


class EventsView(ApiView):
    query = frozenset({"after"})
    scopes = {"GET": Scope.READ}

    @extend_schema(
        operation_id="submissions_events",
        summary="What happened to a submission, in order",
        parameters=[
            OpenApiParameter(
                "after",
                {"type": "integer", "minimum": 0, "maximum": 2**31 - 1, "default": 0},
                description="The number of the last event that is known already.",
            )
        ],
        responses={200: EventsSerializer, **problems(400, 403, 404)},
        tags=["submissions"],
    )
    def get(self, request: Request, public_id: str) -> Response:
        submission = visible(request, public_id)
        wanted = AfterSerializer(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        events = events_of(submission)
        data = {
            "events": [event for event in events if event.number > wanted.validated_data["after"]],
            "last": len(events),
            "is_final": submission.is_final,
        }
        response = Response(EventsSerializer(data).data)
        response["Cache-Control"] = "private, no-cache"
        return response
