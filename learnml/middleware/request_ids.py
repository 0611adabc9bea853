"""Each request has an id: in its log lines, those of what it caused, its answer, and the audit."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.signals import request_finished
from django.http import HttpRequest, HttpResponseBase
from structlog.contextvars import bind_contextvars, clear_contextvars

from gpu_worker.logs import REQUEST_ID, RUN, SUBMISSION, is_sound

HEADER = "X-Request-ID"
ABOUT = {"submissions/<publicid:public_id>/": SUBMISSION, "runs/<publicid:public_id>/": RUN}


class RequestIdMiddleware:
    """Take the id that the proxy in front gave, or make one; stands in front of all others.

    Without a proxy the header is anybody's to send, and is not read. The lines that Django and the
    web server write once the answer is there have the id too: it holds until the answer is sent.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        request_finished.connect(_forget, dispatch_uid="learnml.middleware.request_ids")

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get(HEADER, "") if settings.REQUEST_ID_FROM_PROXY else ""
        own = given if is_sound(given) else secrets.token_hex(8)
        clear_contextvars()
        bind_contextvars(**{REQUEST_ID: own})
        response = self.get_response(request)
        response.headers[HEADER] = own
        return response

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> None:
        """Let lines say which submission or run the address names."""
        route = request.resolver_match.route if request.resolver_match else ""
        for beginning, name in ABOUT.items():
            if beginning in route:
                bind_contextvars(**{name: kwargs["public_id"]})


def _forget(**_: Any) -> None:
    clear_contextvars()
