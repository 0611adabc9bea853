"""`submissions/{id}/override/`: a grader's score in place of the grading's."""

from __future__ import annotations

from typing import Any

from django.utils.http import parse_etags
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from grader import services
from grader.api.base import ApiView, caller, problems
from grader.api.fields import StrictCharField, StrictFloatField, StrictSerializer
from grader.api.serializers import SubmissionSerializer
from grader.models import Scope, Submission
from grader.services.decide import MAX_REASON_CHARACTERS
from grader.services.errors import ChangedMeanwhile, ConditionMissing
from grader.web.page import SubmissionPage

from .submissions import visible

IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    required=True,
    description="The ETag of the submission as you read it: one that changed is left alone.",
)


class NewOverrideSerializer(StrictSerializer):
    """A score and why."""

    score = StrictFloatField(min_value=0, max_value=1)
    reason = StrictCharField(max_length=MAX_REASON_CHARACTERS, help_text="The learner reads it.")


class OverrideView(ApiView):
    scopes = {"PUT": Scope.GRADE, "DELETE": Scope.GRADE}

    @extend_schema(
        operation_id="submissions_override",
        summary="Give a graded submission another score",
        description="The outcome stays the grading's. Regrades leave the submission alone from "
        "then on.",
        parameters=[IF_MATCH],
        request=NewOverrideSerializer,
        responses={
            200: SubmissionSerializer,
            **problems(400, 403, 404, 409, 412, 413, 415, 428),
        },
        tags=["submissions"],
    )
    def put(self, request: Request, public_id: str) -> Response:
        submission = self._as_read(request, public_id)
        wanted = NewOverrideSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        return self._answer(
            request,
            services.override_score(submission, caller(request), **wanted.validated_data),
        )

    @extend_schema(
        operation_id="submissions_override_remove",
        summary="Let the grading's score hold again",
        parameters=[IF_MATCH],
        request=None,
        responses={200: SubmissionSerializer, **problems(403, 404, 409, 412, 428)},
        tags=["submissions"],
    )
    def delete(self, request: Request, public_id: str) -> Response:
        submission = self._as_read(request, public_id)
        return self._answer(request, services.remove_override(submission, caller(request)))

    @staticmethod
    def _as_read(request: Request, public_id: str) -> Submission:
        """Return the submission, if it still is what the caller read."""
        submission = visible(request, public_id, Scope.GRADE)
        condition = request.headers.get("If-Match", "").strip()
        # A shell eats the quotes that belong to a tag.
        tags: list[str] = parse_etags(condition) or ([f'"{condition}"'] if condition else [])
        if not tags:
            raise ConditionMissing("Send the submission's ETag as If-Match.")
        if not SubmissionPage.of(submission).is_as_read(tags):
            raise ChangedMeanwhile(
                "The submission changed since you read it. Read it again, then decide."
            )
        return submission

    @staticmethod
    def _answer(request: Request, submission: Submission) -> Response:
        page = SubmissionPage.of(submission)
        context: dict[str, Any] = {"request": request, "page": page}
        data = SubmissionSerializer(submission, context=context).data
        return Response(data, headers={"ETag": page.etag})
