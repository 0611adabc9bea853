"""`runs/`: run a file, a chapter's listing, or an exercise's public cases, and get the output."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError

from grader import services
from grader.api.base import ApiView, caller, problems
from grader.api.runs import NewRunSerializer, NewRunUploadSerializer, RunSerializer
from grader.models import CodeRun, Scope, Track

from .chapters import published_chapter
from .exercises import content_of, published_exercise


class RunsView(ApiView):
    scopes = {"POST": Scope.SUBMIT}

    @extend_schema(
        operation_id="runs_create",
        summary="Run something",
        description="As JSON, or as a form with a file in the field `file`. It is no attempt, and "
        "one run of a learner goes at a time. The answer comes at once; what came of it later, at "
        "the link `self`, for a day. Where the grading queue is down, the run ends as `not_run`.",
        request={
            "application/json": NewRunSerializer,
            "multipart/form-data": NewRunUploadSerializer,
        },
        responses={202: RunSerializer, **problems(400, 403, 404, 413, 415)},
        tags=["runs"],
    )
    def post(self, request: Request) -> Response:
        is_form = (request.content_type or "").startswith("multipart/")
        wanted = (NewRunUploadSerializer if is_form else NewRunSerializer)(data=request.data)
        wanted.is_valid(raise_exception=True)
        data = wanted.validated_data
        exercise = published_exercise(data["exercise"]) if "exercise" in data else None
        source = _listing(data) if "listing" in data else content_of(data)
        track = data.get("track", Track.NUMPY.value)
        run = services.start_run(caller(request), source, exercise, track)
        # The queue may have been down: then the run has ended already.
        run.refresh_from_db()
        body = RunSerializer(run, context={"request": request}).data
        return Response(body, status=202, headers={"Location": body["links"]["self"]})


class RunView(ApiView):
    scopes = {"GET": Scope.READ}

    @extend_schema(
        operation_id="runs_retrieve",
        summary="What came of a run",
        description="Of one's own, for a day.",
        responses={200: RunSerializer, **problems(403, 404)},
        tags=["runs"],
    )
    def get(self, request: Request, public_id: str) -> Response:
        own = CodeRun.objects.select_related("exercise").filter(user=caller(request))
        run = own.filter(public_id=public_id).first()
        if run is None:
            raise Http404
        if not run.is_final and services.end_late_runs(user=caller(request)):
            run.refresh_from_db()
        headers = {"Cache-Control": "private, no-store"}
        return Response(RunSerializer(run, context={"request": request}).data, headers=headers)


def _listing(data: dict[str, Any]) -> str:
    """Return the listing's code as it is published."""
    revision = published_chapter(data["chapter"]).current_revision
    for listing in revision.page["listings"] if revision else ():
        if listing["filename"] == data["listing"]:
            return str(listing["code"])
    raise ValidationError({"listing": ["The chapter has no listing of this name."]})
