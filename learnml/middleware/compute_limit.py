"""A request that computes for longer than a limit is ended, whatever it does.

What a visitor can make the site do is bounded where it is done. This is for what that overlooked: a
page that computed for minutes would hold a thread, and most of its process, for everybody.

Processor time counts, not the clock: waiting for a busy machine, the database or a slow client is
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
"""Of processor time, for a request to end after it was told to, before it is told again."""

logger = logging.getLogger(__name__)


class ComputedTooLong(Exception):
    """Raised within the thread of a request that has used up its processor time."""


class ComputeLimitMiddleware:
    """Answer 503 where a request computes for longer than `REQUEST_COMPUTE_LIMIT_SECONDS`.

    Stands in front of all that asks the database. Code in C that never comes back to Python cannot
    be ended this way, save a query of SQLite: for the rest there is the web server's own limit for
    a process.
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
        # Ended anywhere, a connection may be left half-way through an answer.
        connections.close_all()
        return took_too_long(request)


class _Computing:
    """A request at work: its thread, and the processor time of that thread at which it is ended."""

    def __init__(self, limit_seconds: float) -> None:
        self.was_ended = False
        self.thread = threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self.thread)
        self._ends_at = time.clock_gettime(self._clock) + limit_seconds
        # Those of this thread, for the thread that watches.
        self._databases: list[BaseDatabaseWrapper] = [connections[name] for name in connections]

    def end_if_late(self) -> None:
        """Called by the thread that watches."""
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
        """Take back what was raised and has not arrived yet: it would end the next request."""
        if self.was_ended:
            _raise_in(self.thread, None)


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), ctypes.py_object(error) if error else None
    )


class _Watch:
    """One thread in each process that looks at all requests of the process now and then."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew, without a thread: in a forked process there is none."""
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
