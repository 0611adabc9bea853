"""`submissions/{id}/override/`: a grader's score in place of the grading's."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from courses.pages.etag import is_named
from grader import services
from grader.api.answers import submission_answer
from grader.api.base import ApiView, caller, problems
from grader.api.fields import StrictCharField, StrictFloatField, StrictSerializer
from grader.api.serializers import SubmissionSerializer
from grader.models import Scope, Submission
from grader.presentation.page import SubmissionPage
from grader.services.decide import MAX_REASON_CHARACTERS
from grader.services.errors import ChangedMeanwhile, ConditionMissing

from .submissions import visible

IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    required=True,
    description="The ETag of the submission as you read it: one that changed is left alone. Send "
    "it as it came, also where it begins with `W/`; several may be given, and `*` is any.",
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
        submission = self._named(request, public_id)
        wanted = NewOverrideSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        if self._is_done(request, submission, **wanted.validated_data):
            # A repeated request, as after a lost response: RFC 9110, section 13.1.1.
            return submission_answer(request, submission)
        self._check_unchanged(request, submission)
        return submission_answer(
            request, services.override_score(submission, caller(request), **wanted.validated_data)
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
        submission = self._named(request, public_id)
        self._check_unchanged(request, submission)
        return submission_answer(request, services.remove_override(submission, caller(request)))

    @staticmethod
    def _named(request: Request, public_id: str) -> Submission:
        """Return the submission, if the call names the state of it that the caller read."""
        submission = visible(request, public_id, Scope.GRADE)
        if not request.headers.get("If-Match", "").strip():
            raise ConditionMissing("Send the submission's ETag as If-Match.")
        return submission

    @staticmethod
    def _check_unchanged(request: Request, submission: Submission) -> None:
        condition = request.headers["If-Match"]
        etag = SubmissionPage.of(submission).etag
        if not is_named(condition, etag, SubmissionPage.is_same_verdict):
            raise ChangedMeanwhile(
                "The submission changed since you read it. Read it again, then decide."
            )

    @staticmethod
    def _is_done(request: Request, submission: Submission, score: float, reason: str) -> bool:
        """Return whether the caller's own override already says exactly this."""
        standing = getattr(submission, "override", None)
        return standing is not None and (
            (standing.created_by_id, standing.score, standing.reason)
            == (caller(request).pk, score, reason.strip())
        )
