"""`regrades/`: dry runs of grading again, their commit, and its undo."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from grader import services
from grader.api.base import ApiView, caller, problems
from grader.api.pagination import PAGING, KeysetPagination
from grader.api.permissions import Scoped, SeesRegrades
from grader.api.regrades import (
    CommitSerializer,
    NewRegradeSerializer,
    RegradeItemSerializer,
    RegradeSerializer,
    RegradeSummarySerializer,
)
from grader.models import RegradeItem, RegradeRun, Scope

PERMISSIONS: Any = (IsAuthenticated, Scoped, SeesRegrades)
SCOPES = {"GET": Scope.GRADE, "POST": Scope.GRADE}


def _run(public_id: str) -> RegradeRun:
    runs = RegradeRun.objects.select_related("created_by")
    return get_object_or_404(runs, public_id=public_id)


def _answer(request: Request, run: RegradeRun, status: int = 200) -> Response:
    return Response(RegradeSerializer(run, context={"request": request}).data, status=status)


class RegradesView(ApiView, GenericAPIView[RegradeRun]):
    permission_classes = PERMISSIONS
    scopes = SCOPES
    serializer_class = RegradeSummarySerializer
    pagination_class = KeysetPagination
    query = PAGING
    filter_backends = ()
    queryset = RegradeRun.objects.select_related("created_by")
    orderings = ("-created_at", "created_at")

    @extend_schema(
        operation_id="regrades_list",
        summary="List regrades",
        responses={200: RegradeSummarySerializer(many=True), **problems(400, 403)},
        tags=["regrades"],
    )
    def get(self, request: Request) -> Response:
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(
        operation_id="regrades_create",
        summary="Grade submissions again, as a dry run",
        description="The submissions that the filter chooses are graded again, behind those of "
        "learners. Their new verdicts are kept beside them: nothing of theirs changes until the "
        "run is committed. What is open, held for review, decided by a person or has a person's "
        "score is left out.",
        request=NewRegradeSerializer,
        responses={202: RegradeSerializer, **problems(400, 403, 409, 413, 415)},
        tags=["regrades"],
    )
    def post(self, request: Request) -> Response:
        wanted = NewRegradeSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        chosen = wanted.validated_data["filter"]
        run = services.start_regrade(caller(request), wanted.submissions(), chosen)
        return _answer(request, run, 202)


class RegradeView(ApiView):
    permission_classes = PERMISSIONS
    scopes = SCOPES

    @extend_schema(
        operation_id="regrades_retrieve",
        summary="One regrade with its numbers",
        responses={200: RegradeSerializer, **problems(403, 404)},
        tags=["regrades"],
    )
    def get(self, request: Request, public_id: str) -> Response:
        return _answer(request, _run(public_id))


class RegradeItemsView(ApiView, GenericAPIView[RegradeItem]):
    permission_classes = PERMISSIONS
    scopes = SCOPES
    serializer_class = RegradeItemSerializer
    pagination_class = KeysetPagination
    query = PAGING
    filter_backends = ()
    queryset = RegradeItem.objects.select_related("submission__user", "submission__exercise").defer(
        "report", "old_report", "submission__source", "submission__report"
    )
    orderings = ("id", "-id")

    @extend_schema(
        operation_id="regrades_items",
        summary="A regrade's submissions, with old and new outcome and score",
        responses={200: RegradeItemSerializer(many=True), **problems(400, 403, 404)},
        tags=["regrades"],
    )
    def get(self, request: Request, public_id: str) -> Response:
        items = self.get_queryset().filter(run=_run(public_id))
        page = self.paginate_queryset(items)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class CommitView(ApiView):
    permission_classes = PERMISSIONS
    scopes = SCOPES

    @extend_schema(
        operation_id="regrades_commit",
        summary="Take a graded run over",
        description="`all` takes over every result that differs, `not_lower` those that do not "
        "lower a score. A submission that changed since the dry run is left alone.",
        request=CommitSerializer,
        responses={200: RegradeSerializer, **problems(400, 403, 404, 409, 413, 415)},
        tags=["regrades"],
    )
    def post(self, request: Request, public_id: str) -> Response:
        wanted = CommitSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        run = services.commit_regrade(
            caller(request), _run(public_id), wanted.validated_data["scope"]
        )
        return _answer(request, run)


class UndoView(ApiView):
    permission_classes = PERMISSIONS
    scopes = SCOPES

    @extend_schema(
        operation_id="regrades_undo",
        summary="Give back what a committed run took over",
        description="A submission that changed since the commit is left alone.",
        request=None,
        responses={200: RegradeSerializer, **problems(403, 404, 409)},
        tags=["regrades"],
    )
    def post(self, request: Request, public_id: str) -> Response:
        return _answer(request, services.undo_regrade(caller(request), _run(public_id)))
