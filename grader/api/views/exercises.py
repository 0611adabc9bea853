"""`exercises/`: the contract of each, and submitting to it."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from grader import queries, services
from grader.api.answers import submission_answer
from grader.api.base import ApiView, PublicApiView, caller, problems
from grader.api.exercise_serializers import ExerciseSerializer, ExerciseSummarySerializer
from grader.api.permissions import Scoped
from grader.api.serializers import (
    NewSubmissionSerializer,
    NewUploadSerializer,
    SubmissionSerializer,
)
from grader.deadlines import exercises_with_deadline
from grader.limits import MAX_SOURCE_BYTES
from grader.models import Exercise, Scope
from grader.services.errors import SourceTooLarge

IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="At most 200 printable characters. The same key with the same content gives the "
    "submission made before, however often it is sent.",
)


def published_exercise(slug: str) -> Exercise:
    """Return a published exercise; 404 without one."""
    exercise = queries.published_exercises().filter(slug=slug).first()
    if exercise is None:
        raise Http404
    return exercise


class ExercisesView(PublicApiView):
    scopes = {"GET": Scope.READ}

    @extend_schema(
        operation_id="exercises_list",
        summary="List the exercises",
        responses={200: ExerciseSummarySerializer(many=True), **problems(403)},
        tags=["exercises"],
    )
    def get(self, request: Request) -> Response:
        exercises = exercises_with_deadline(
            queries.published_exercises().defer("statement", "statement_html"), request.user
        )
        context = {"request": request}
        return Response(ExerciseSummarySerializer(exercises, many=True, context=context).data)


class ExerciseView(PublicApiView):
    scopes = {"GET": Scope.READ}

    @extend_schema(
        operation_id="exercises_retrieve",
        summary="The contract of an exercise",
        description="Class, tracks, limits, groups with their weights, public cases, starters.",
        responses={200: ExerciseSerializer, **problems(403, 404)},
        tags=["exercises"],
    )
    def get(self, request: Request, slug: str) -> Response:
        return Response(
            ExerciseSerializer(published_exercise(slug), context={"request": request}).data
        )


class SubmitView(ApiView):
    permission_classes: Any = (IsAuthenticated, Scoped)
    scopes = {"POST": Scope.SUBMIT}

    @extend_schema(
        operation_id="exercises_submit",
        summary="Submit a source",
        description="As JSON, or as a form with a file in the field `file` or `source`. The "
        "answer comes at once; the verdict later, at the link `self`. A grading queue that is "
        "down is no error: the submission is kept and graded when it is back.",
        parameters=[IDEMPOTENCY_KEY],
        request={
            "application/json": NewSubmissionSerializer,
            "multipart/form-data": NewUploadSerializer,
        },
        responses={202: SubmissionSerializer, **problems(400, 403, 404, 409, 413, 415)},
        tags=["submissions"],
    )
    def post(self, request: Request, slug: str) -> Response:
        exercise = published_exercise(slug)
        is_form = (request.content_type or "").startswith("multipart/")
        taken = (NewUploadSerializer if is_form else NewSubmissionSerializer)(data=request.data)
        taken.is_valid(raise_exception=True)
        submission = services.submit(
            caller(request),
            exercise,
            taken.validated_data["track"],
            content_of(taken.validated_data),
            request.headers.get("Idempotency-Key"),
        )
        answer = submission_answer(request, submission, 202)
        answer.headers["Location"] = answer.data["links"]["self"]
        return answer


def content_of(data: dict[str, Any]) -> str | bytes:
    """Return the content of `source` or `file`.

    Raises:
        SourceTooLarge: the file is larger than any source may be.
    """
    upload = data.get("file")
    if upload is None:
        return str(data["source"])
    if upload.size > MAX_SOURCE_BYTES:
        raise SourceTooLarge(
            f"The file has {upload.size:,} bytes; the limit is {MAX_SOURCE_BYTES:,} (64 KB)."
        )
    return bytes(upload.read())
