"""`submissions/`: submissions and their verdicts."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from courses.pages.etag import failed_condition
from grader import access, services
from grader.api.answers import submission_answer
from grader.api.base import ApiView, caller, problems
from grader.api.filters import SubmissionFilter
from grader.api.pagination import PAGING, KeysetPagination
from grader.api.permissions import Scoped, token_of
from grader.api.serializers import (
    NewDecisionSerializer,
    SubmissionSerializer,
    SubmissionSummarySerializer,
)
from grader.deadlines import with_deadline
from grader.models import Scope, Submission
from grader.presentation.page import SubmissionPage
from grader.services.errors import ChangedMeanwhile

IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match",
    str,
    OpenApiParameter.HEADER,
    description="The ETag of an earlier answer: 304 without a body where nothing changed.",
)


def visible(request: Request, public_id: str, scope: Scope = Scope.READ) -> Submission:
    """Return a submission that the call may see under `scope`; 404 as for unknown ids otherwise."""
    submission = access.find_submission(request.user, public_id, scope, token_of(request))
    if submission is None:
        raise Http404
    return submission


class SubmissionsView(ApiView, GenericAPIView[Submission]):
    permission_classes: Any = (IsAuthenticated, Scoped)
    scopes = {"GET": Scope.READ}
    serializer_class = SubmissionSummarySerializer
    filterset_class = SubmissionFilter
    query = PAGING.union(SubmissionFilter.base_filters)
    pagination_class = KeysetPagination
    orderings = (
        "-created_at",
        "created_at",
        "-finished_at",
        "finished_at",
        "-score",
        "score",
        "-id",
        "id",
    )

    def get_queryset(self) -> Any:
        if getattr(self, "swagger_fake_view", False):
            return Submission.objects.none()
        submissions = access.visible_submissions(
            self.request.user, Scope.READ, token_of(self.request)
        )
        return with_deadline(submissions).defer(
            "source", "report", "exercise__statement", "exercise__statement_html"
        )

    @extend_schema(
        operation_id="submissions_list",
        summary="List submissions",
        description="Your own; with a grader's role, everybody's.",
        responses={200: SubmissionSummarySerializer(many=True), **problems(400, 403)},
        tags=["submissions"],
    )
    def get(self, request: Request) -> Response:
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class SubmissionView(ApiView):
    scopes = {"GET": Scope.READ}

    @extend_schema(
        operation_id="submissions_retrieve",
        summary="One submission with its report",
        parameters=[IF_NONE_MATCH],
        responses={
            200: SubmissionSerializer,
            304: OpenApiResponse(description="Nothing changed since the ETag given."),
            **problems(403, 404, 412),
        },
        tags=["submissions"],
    )
    def get(self, request: Request, public_id: str) -> Response:
        submission = visible(request, public_id)
        page = SubmissionPage.of(submission)
        status = failed_condition(request._request, page.etag)
        if status is HTTPStatus.PRECONDITION_FAILED:
            raise ChangedMeanwhile("The submission is no longer what your If-Match names.")
        if status is not None:
            headers = {"ETag": page.etag, "Cache-Control": "private, no-cache"}
            return Response(status=status, headers=headers)
        return submission_answer(request, submission, page=page)


class SourceView(ApiView):
    scopes = {"GET": Scope.READ}

    @extend_schema(
        operation_id="submissions_source",
        summary="The source as text",
        responses={(200, "text/plain"): OpenApiTypes.STR, **problems(403, 404)},
        tags=["submissions"],
    )
    def get(self, request: Request, public_id: str) -> HttpResponse:
        submission = visible(request, public_id)
        response = HttpResponse(submission.source, content_type="text/plain; charset=utf-8")
        response["Cache-Control"] = "private"
        return response


class ResubmitView(ApiView):
    scopes = {"POST": Scope.SUBMIT}

    @extend_schema(
        operation_id="submissions_resubmit",
        summary="Send again what the platform failed to grade",
        request=None,
        responses={202: SubmissionSerializer, **problems(403, 404, 409)},
        tags=["submissions"],
    )
    def post(self, request: Request, public_id: str) -> Response:
        submission = services.resubmit(caller(request), visible(request, public_id))
        return submission_answer(request, submission, 202)


class SecondVerdictView(ApiView):
    scopes = {"POST": Scope.GRADE}

    @extend_schema(
        operation_id="submissions_second_verdict",
        summary="Ask for a submission's second verdict again",
        description="For graders, whatever the second verdict was: after a GPU node was repaired, "
        "say. The verdict that counts stays. While one is awaited, asking changes nothing. It goes "
        "behind everything that was not graded yet. A learner sends again with `resubmit/` what "
        "could not be graded.",
        request=None,
        responses={202: SubmissionSerializer, **problems(403, 404, 409)},
        tags=["submissions"],
    )
    def post(self, request: Request, public_id: str) -> Response:
        services.ask_second_again(caller(request), visible(request, public_id, Scope.GRADE))
        return submission_answer(request, visible(request, public_id, Scope.GRADE), 202)


class DecisionView(ApiView):
    scopes = {"POST": Scope.GRADE}

    @extend_schema(
        operation_id="submissions_decide",
        summary="Decide on a submission that is held for review",
        description="For graders, on submissions with the outcome `flagged`. The learner reads the "
        "reason, not who gave it. Accepted scores 1, the others 0.",
        request=NewDecisionSerializer,
        responses={200: SubmissionSerializer, **problems(400, 403, 404, 409, 413, 415)},
        tags=["submissions"],
    )
    def post(self, request: Request, public_id: str) -> Response:
        submission = visible(request, public_id, Scope.GRADE)
        wanted = NewDecisionSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        services.decide_flagged(submission, caller(request), **wanted.validated_data)
        return submission_answer(request, submission)
