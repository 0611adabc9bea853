"""`/healthz`: this process answers. `/readyz`: database and queue take what is written, and how
grading goes.

Answered by a middleware in front of everything else: a probe asks by an address, not by the
site's name, over plain HTTP, and must not depend on sessions.
"""

from __future__ import annotations

import logging
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import redis
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import Count, Min
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils import timezone

from gpu_worker.messages.queues import QUEUE_CPU, QUEUE_GPU

logger = logging.getLogger(__name__)

# Workers report every 30 s; one that missed three reports is not counted.
NODE_TIMEOUT = timedelta(seconds=100)
QUEUE_TIMEOUT_SECONDS = 1.0
WRITE_PATIENCE_MS: Final = 2_000
REMEMBERED_SECONDS = 1.0
ROOM_BYTES: Final = 1 << 20
FIND_ROOM_IN_POSTGRESQL: Final = (
    # The table is made once for a connection; its file grows by a megabyte, and shrinks again.
    "CREATE TEMP TABLE IF NOT EXISTS learnml_room (filler text) ON COMMIT DELETE ROWS",
    "INSERT INTO learnml_room SELECT repeat('x', 1000) FROM generate_series(1, 1048)",
)
"""On a full disk transactions begin and commit all the same, until a table has to grow."""
OK: Final = "ok"
READ_ONLY: Final = "read only"
UNREACHABLE: Final = "unreachable"


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
    """Answer 200 if pages and submissions can be served, else 503; the JSON says what fails.

    "read only" is a database or queue that answers but accepts no writes: its disk is full, or
    another writer does not let go.
    """
    database = _database_state()
    queue = queue_state()
    body = {
        "ready": database == queue == OK,
        "database": database,
        "queue": queue,
        **_grading(),
    }
    return JsonResponse(body, status=200 if body["ready"] else 503)


def _database_state() -> str:
    if not _database_reads():
        return UNREACHABLE
    return OK if database_takes_writes() else READ_ONLY


def _database_reads() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        logger.warning("The database is not ready: %s", error)
        return False
    return True


class _Remembered:
    """A result cached for a moment, so that probes cannot keep a disk busy."""

    def __init__(self, find_out: Callable[[], Any]) -> None:
        self._find_out = find_out
        self._lock = threading.Lock()
        self.forget()

    def forget(self) -> None:
        self._answer: Any = None
        self._until = 0.0

    def __call__(self) -> Any:
        with self._lock:
            if time.monotonic() >= self._until:
                self._answer = self._find_out()
                self._until = time.monotonic() + REMEMBERED_SECONDS
            return self._answer


@_Remembered
def database_takes_writes() -> bool:
    """Return whether a write transaction begins within seconds, and finds disk space."""
    try:
        with _short_patience(), transaction.atomic(), connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                # It holds the write lock by now.
                _find_room(Path(settings.DATA_DIR))
            else:
                for statement in FIND_ROOM_IN_POSTGRESQL:
                    cursor.execute(statement)
    except (DatabaseError, OSError) as error:
        logger.warning("The database takes no writes: %s", error)
        return False
    return True


def _find_room(folder: Path) -> None:
    """Allocate as much disk space as a few saves need, and release it.

    Raises:
        OSError: there is not enough, or the disk cannot be written.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        os.posix_fallocate(file.fileno(), 0, ROOM_BYTES)


@contextmanager
def _short_patience() -> Iterator[None]:
    """Wait for other writers for a second or two, less than a page would."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA busy_timeout")
            (usual,) = cursor.fetchone()
            cursor.execute(f"PRAGMA busy_timeout = {WRITE_PATIENCE_MS}")
        else:
            cursor.execute("SHOW lock_timeout")
            (usual,) = cursor.fetchone()
            cursor.execute(f"SET lock_timeout = {WRITE_PATIENCE_MS}")
    try:
        yield
    finally:
        with suppress(DatabaseError), connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                cursor.execute(f"PRAGMA busy_timeout = {usual}")
            else:
                cursor.execute("SELECT set_config('lock_timeout', %s, false)", [usual])


def _grading() -> dict[str, Any]:
    try:
        return {
            "oldest_queued_seconds": oldest_queued_seconds(),
            "workers": workers_per_queue(),
        }
    except DatabaseError:
        return {"oldest_queued_seconds": None, "workers": None}


def oldest_queued_seconds() -> float | None:
    """Return the age of the oldest submission that waits for a worker, or None."""
    from grader.models import Submission, SubmissionState

    oldest = Submission.objects.filter(state=SubmissionState.QUEUED).aggregate(
        oldest=Min("created_at")
    )["oldest"]
    return None if oldest is None else round((timezone.now() - oldest).total_seconds(), 1)


def workers_per_queue() -> dict[str, int]:
    """Return the number of workers that reported lately, by queue."""
    from grader.models import WorkerNode

    seen = WorkerNode.objects.filter(last_seen_at__gte=timezone.now() - NODE_TIMEOUT)
    counts = seen.order_by().values("queue").annotate(count=Count("id"))
    return {QUEUE_CPU: 0, QUEUE_GPU: 0} | {row["queue"]: row["count"] for row in counts}


@_Remembered
def queue_state() -> str:
    """Ask the broker within a second whether it answers, and whether it accepts a write."""
    url = settings.REDIS_URL or f"unix://{settings.QUEUE_SOCKET}"
    client = redis.Redis.from_url(
        url,
        socket_connect_timeout=QUEUE_TIMEOUT_SECONDS,
        socket_timeout=QUEUE_TIMEOUT_SECONDS,
        retry=None,
    )
    try:
        client.set("site_ready", 1, ex=60)
    except redis.ResponseError as error:
        # It answers, but with a full disk or memory it accepts no writes.
        logger.warning("The queue takes nothing: %s", error)
        return READ_ONLY
    except redis.RedisError as error:
        logger.warning("The queue is not ready: %s", error)
        return UNREACHABLE
    finally:
        client.close()
    return OK
