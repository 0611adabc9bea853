"""Request ids: in log lines, in those of the tasks it caused, in the response, in the audit log."""

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
    """Take the id from the proxy in front, or create one; comes first.

    Without a proxy anybody could send the header, so it is ignored. Lines that Django and the web
    server write after the response have the id too: it is kept until the response is sent.
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
        """Add the address's submission or run to log lines."""
        route = request.resolver_match.route if request.resolver_match else ""
        for beginning, name in ABOUT.items():
            if beginning in route:
                bind_contextvars(**{name: kwargs["public_id"]})


def _forget(**_: Any) -> None:
    clear_contextvars()
