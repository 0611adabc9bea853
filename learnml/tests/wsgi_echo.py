"""A WSGI application for tests of the web server: says what it read, and in which thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings

BODY_LIMIT = 100_000
if not settings.configured:
    settings.configure(DATA_UPLOAD_MAX_MEMORY_SIZE=BODY_LIMIT)


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    body = environ["wsgi.input"].read()
    announced = environ.get("CONTENT_LENGTH") or "-"
    text = f"{environ['REQUEST_METHOD']} {announced} {len(body)} {body[:20].decode('latin-1')}"
    large = environ["PATH_INFO"] == "/large/"
    answer = text.encode() + (b"x" * 50_000_000 if large else b"")
    start_response(
        "200 OK",
        [
            ("Content-Length", str(len(answer))),
            ("X-Threads", str(threading.active_count())),
        ],
    )
    return [answer]
