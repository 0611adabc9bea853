"""Error pages for people, problem documents (RFC 9457) for the API."""

from __future__ import annotations

import errno
import math
import sqlite3
import sys
from http import HTTPStatus
from typing import Any, Final

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.template import Context, loader
from django.urls import reverse
from django.views import defaults

from grader.api.problems import CONTENT_TYPE, BodyTooLarge, problem_body
from learnml.accounts.limits import seconds_to_wait
from learnml.admin import hold_form

API_PREFIX = "/api/"


def problem(status: HTTPStatus, code: str, detail: str) -> JsonResponse:
    """Return a problem document of the same form as those of the API's views."""
    return JsonResponse(
        problem_body(status, code, detail), status=status, content_type=CONTENT_TYPE
    )


def _is_api(request: HttpRequest) -> bool:
    return request.path_info.startswith(API_PREFIX)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _is_api(request):
        return problem(HTTPStatus.BAD_REQUEST, "malformed", "The request could not be understood.")
    return defaults.bad_request(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _is_api(request):
        return problem(HTTPStatus.FORBIDDEN, "permission_denied", "You may not do this.")
    return defaults.permission_denied(request, exception)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _is_api(request):
        return problem(
            HTTPStatus.NOT_FOUND,
            "not_found",
            f"There is nothing at {request.path}. The calls are listed at {reverse('api:docs')}.",
        )
    return defaults.page_not_found(request, exception)


def too_large(request: HttpRequest) -> HttpResponse:
    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    if _is_api(request):
        return problem(status, BodyTooLarge.default_code, BodyTooLarge.default_detail)
    context = {
        "in_admin": request.path.startswith(reverse("admin:index")),
        "admin_megabytes": settings.MAX_ADMIN_BODY_BYTES // (1024 * 1024),
    }
    return render(request, "413.html", context, status=status)


def took_too_long(request: HttpRequest) -> HttpResponse:
    status = HTTPStatus.SERVICE_UNAVAILABLE
    if _is_api(request):
        return problem(
            status,
            "took_too_long",
            "Answering this took more computing than one call may. It was ended, and has been "
            "logged. What it was to store may not have been stored.",
        )
    return _standalone(request, "503.html", status)


def unavailable(request: HttpRequest) -> HttpResponse:
    """Say that nothing can be stored, or read, at the moment, and when to come back."""
    status = HTTPStatus.SERVICE_UNAVAILABLE
    response = (
        problem(
            status,
            "unavailable",
            "The database takes nothing at the moment. It has been logged. What was sent may not "
            "have been stored: send it again in a minute, with the same Idempotency-Key if it had "
            "one.",
        )
        if _is_api(request)
        else _standalone(request, "unavailable.html", status)
    )
    response["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def too_many_requests(request: HttpRequest, wait_seconds: int | None = None) -> HttpResponse:
    """Say that there were too many requests, and when to come back; allauth's pages use it."""
    wait = seconds_to_wait(request) if wait_seconds is None else wait_seconds
    minutes = math.ceil(wait / 60)
    response = render(request, "429.html", {"minutes": minutes}, status=429)
    response["Retry-After"] = str(wait)
    return response


def server_error(request: HttpRequest, *args: Any) -> HttpResponse:
    """Answer a request that ended in an error, while Django handles that error."""
    if is_outage(sys.exc_info()[1]):
        return unavailable(request)
    if _is_api(request):
        return problem(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            "server_error",
            "The server made a mistake. It has been logged; please try again later.",
        )
    return _standalone(request, "500.html", HTTPStatus.INTERNAL_SERVER_ERROR)


def _standalone(request: HttpRequest, template: str, status: HTTPStatus) -> HttpResponse:
    # Without the context of every page: it queries the database, which may be what failed.
    page = loader.get_template(template).template  # type: ignore[attr-defined]
    html = page.render(Context({"request": request, "csrf_token": get_token(request)}))
    return HttpResponse(html, status=status)


def forged(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Refuse a form without its CSRF token, and give its text back.

    Only to be read and copied: whoever forged a form could have written the text, so nothing here
    sends it again. A form of the admin is kept for its author, who checks it before saving.
    """
    if _is_api(request):
        return problem(HTTPStatus.FORBIDDEN, "csrf_failed", f"The request was refused. {reason}")
    context = {"held_at": hold_form(request)}
    return render(request, "403_csrf.html", context, status=HTTPStatus.FORBIDDEN)


RETRY_AFTER_SECONDS: Final = 30
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})
# SQLite reports a missing table as operational too, which is not temporary.
_PASSING: Final = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_NOMEM,
    }
)


def is_outage(error: BaseException | None) -> bool:
    """Return whether an error suggests that the same request may succeed soon."""
    if isinstance(error, InterfaceError | OperationalError):
        cause = error.__cause__
        if isinstance(cause, sqlite3.Error):
            # The primary code is the lowest byte of an extended one.
            return getattr(cause, "sqlite_errorcode", 0) & 0xFF in _PASSING
        return True
    return isinstance(error, OSError) and error.errno in _NO_ROOM
