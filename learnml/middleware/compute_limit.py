"""Ends requests that compute for longer than a limit.

Work that visitors can cause is bounded where it is done. This catches what that overlooked: a page
that computes for minutes would block a thread, and most of its process, for everybody.

Processor time counts, not wall time: waiting for a busy machine, the database or a slow client is
nobody's fault.
"""

from __future__ import annotations

import ctypes
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.http import HttpRequest, HttpResponseBase

from learnml.errors import took_too_long

LOOK_EVERY_SECONDS: Final = 0.25
GRACE_SECONDS: Final = 2.0
"""Processor time for a request to end after the exception, before it is raised again."""

logger = logging.getLogger(__name__)


class ComputedTooLong(Exception):
    """Raised in the thread of a request that has used up its processor time."""


class ComputeLimitMiddleware:
    """Answer 503 where a request computes for longer than `REQUEST_COMPUTE_LIMIT_SECONDS`.

    Stands in front of everything that queries the database. Code in C that does not return to
    Python cannot be interrupted this way, except a query of SQLite; for the rest there is the web
    server's own limit for a process.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        computing = _Computing(settings.REQUEST_COMPUTE_LIMIT_SECONDS)
        response = None
        _watch.begin(computing)
        try:
            response = self.get_response(request)
        except ComputedTooLong:
            logger.debug("Ended on the way out: %s", request.path)
        finally:
            _watch.finish(computing)
        if response is not None and (not computing.was_ended or response.status_code < 500):
            return response
        logger.error(
            "%s %s computed for more than %g s and was ended.",
            *(request.method, request.path, settings.REQUEST_COMPUTE_LIMIT_SECONDS),
        )
        # Interrupted anywhere, a connection may be in the middle of a response.
        connections.close_all()
        return took_too_long(request)


class _Computing:
    """A running request: its thread, and the processor time of that thread at which to end it."""

    def __init__(self, limit_seconds: float) -> None:
        self.was_ended = False
        self.thread = threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self.thread)
        self._ends_at = time.clock_gettime(self._clock) + limit_seconds
        # Of this thread, for the watching thread.
        self._databases: list[BaseDatabaseWrapper] = [connections[name] for name in connections]

    def end_if_late(self) -> None:
        """Called by the watching thread."""
        now = time.clock_gettime(self._clock)
        if now < self._ends_at:
            return
        self.was_ended = True
        self._ends_at = now + GRACE_SECONDS
        _raise_in(self.thread, ComputedTooLong)
        for database in self._databases:
            interrupt = getattr(database.connection, "interrupt", None)
            if interrupt:
                interrupt()

    def clear(self) -> None:
        """Cancel an exception that was raised and has not arrived yet: it would end the next
        request.
        """
        if self.was_ended:
            _raise_in(self.thread, None)


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), ctypes.py_object(error) if error else None
    )


class _Watch:
    """One thread in each process that checks all of its requests periodically."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start over without a thread: a forked process has none."""
        self._lock = threading.Lock()
        # By thread: where the end of a request came between its work and `finish`, the next request
        # of its thread takes its place here.
        self._computing: dict[int, _Computing] = {}
        self._thread: threading.Thread | None = None

    def begin(self, computing: _Computing) -> None:
        with self._lock:
            self._computing[computing.thread] = computing
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._look, name="compute-limit", daemon=True
                )
                self._thread.start()

    def finish(self, computing: _Computing) -> None:
        while True:
            try:
                with self._lock:
                    self._computing.pop(computing.thread, None)
                    computing.clear()
                return
            except ComputedTooLong:
                # Raised just before the lock was had. From then on nothing more comes.
                continue

    def _look(self) -> None:
        while True:
            time.sleep(LOOK_EVERY_SECONDS)
            with self._lock:
                for computing in self._computing.values():
                    computing.end_if_late()


_watch = _Watch()
os.register_at_fork(after_in_child=_watch.forget)
