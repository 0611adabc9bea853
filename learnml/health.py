"""`/healthz`: this process answers. `/readyz`: database and queue answer, and how grading goes.

Answered by a middleware in front of everything else: a probe asks by an address, not by the
site's name, over plain HTTP, and must not depend on sessions.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Count, Min
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils import timezone

from gpu_worker.queues import QUEUE_CPU, QUEUE_GPU

logger = logging.getLogger(__name__)

# Workers report every 30 s; one that missed three reports is not counted.
NODE_TIMEOUT = timedelta(seconds=100)
QUEUE_TIMEOUT_SECONDS = 1.0


class HealthMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        answer = {"/healthz": healthz, "/readyz": readyz}.get(request.path_info)
        if answer is None:
            return self.get_response(request)
        if request.method not in ("GET", "HEAD"):
            return HttpResponse(status=405, headers={"Allow": "GET, HEAD"})
        response = answer()
        response.headers["Cache-Control"] = "no-store"
        return response


def healthz() -> HttpResponse:
    return HttpResponse("ok\n", content_type="text/plain; charset=utf-8")


def readyz() -> HttpResponse:
    """Answer 200 if pages and submissions can be served, else 503; the JSON says what fails."""
    database, grading = _database()
    queue = queue_answers()
    body = {
        "ready": database and queue,
        "database": "ok" if database else "unreachable",
        "queue": "ok" if queue else "unreachable",
        **grading,
    }
    return JsonResponse(body, status=200 if body["ready"] else 503)


def _database() -> tuple[bool, dict[str, Any]]:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return True, {
            "oldest_queued_seconds": oldest_queued_seconds(),
            "workers": workers_per_queue(),
        }
    except DatabaseError as error:
        logger.warning("The database is not ready: %s", error)
        return False, {"oldest_queued_seconds": None, "workers": None}


def oldest_queued_seconds() -> float | None:
    """Return the age of the oldest submission that waits for a worker, or None."""
    from grader.models import Submission, SubmissionState

    oldest = Submission.objects.filter(state=SubmissionState.QUEUED).aggregate(
        oldest=Min("created_at")
    )["oldest"]
    return None if oldest is None else round((timezone.now() - oldest).total_seconds(), 1)


def workers_per_queue() -> dict[str, int]:
    """Return how many workers reported lately, by queue."""
    from grader.models import WorkerNode

    seen = WorkerNode.objects.filter(last_seen_at__gte=timezone.now() - NODE_TIMEOUT)
    counts = seen.order_by().values("queue").annotate(count=Count("id"))
    return {QUEUE_CPU: 0, QUEUE_GPU: 0} | {row["queue"]: row["count"] for row in counts}


def queue_answers() -> bool:
    """Tell whether the broker answers PING within a second."""
    url = settings.REDIS_URL or f"unix://{settings.QUEUE_SOCKET}"
    client = redis.Redis.from_url(
        url,
        socket_connect_timeout=QUEUE_TIMEOUT_SECONDS,
        socket_timeout=QUEUE_TIMEOUT_SECONDS,
        retry=None,
    )
    try:
        return bool(client.ping())
    except redis.RedisError as error:
        logger.warning("The queue is not ready: %s", error)
        return False
    finally:
        client.close()
