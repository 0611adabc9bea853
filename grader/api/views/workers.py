"""`workers/`: nodes, queues and their load."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from grader import queries
from grader.api.base import ApiView, problems
from grader.api.permissions import Scoped, SeesWorkers
from grader.api.worker_serializers import WorkersSerializer
from grader.models import Scope, WorkerNode


class WorkersView(ApiView):
    permission_classes: Any = (IsAuthenticated, Scoped, SeesWorkers)
    scopes = {"GET": Scope.GRADE}

    @extend_schema(
        operation_id="workers_list",
        summary="The workers and their queues",
        responses={200: WorkersSerializer, **problems(403)},
        tags=["workers"],
    )
    def get(self, request: Request) -> Response:
        data = {"nodes": WorkerNode.objects.all(), "queues": queries.queue_loads()}
        return Response(WorkersSerializer(data).data)
