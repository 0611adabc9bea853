"""A WSGI application for tests of the web server: says what it read, and in which thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings

from learnml import framing, receiving, sending

BODY_LIMIT = 100_000
LARGE_BYTES = 12_000_000
HUGE_BYTES = 50_000_000
if not settings.configured:
    # Not in the tests' own process.
    settings.configure(DATA_UPLOAD_MAX_MEMORY_SIZE=BODY_LIMIT)
    # A busy machine is no slow client.
    framing.HEADERS_WITHIN_SECONDS = 600.0  # type: ignore[misc]
    receiving.TAKE_ALL_WITHIN_SECONDS = 600.0  # type: ignore[misc]
    receiving.TAKE_SOME_WITHIN_SECONDS = 600.0  # type: ignore[misc]
    sending.TAKE_SOME_WITHIN_SECONDS = 600.0  # type: ignore[misc]


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    body = environ["wsgi.input"].read()
    announced = environ.get("CONTENT_LENGTH") or "-"
    text = f"{environ['REQUEST_METHOD']} {announced} {len(body)} {body[:20].decode('latin-1')}"
    extra = {"/large/": LARGE_BYTES, "/huge/": HUGE_BYTES}.get(environ["PATH_INFO"], 0)
    answer = text.encode() + b"x" * extra
    start_response(
        "200 OK",
        [
            ("Content-Length", str(len(answer))),
            ("X-Threads", str(threading.active_count())),
        ],
    )
    return [answer]
