"""Error pages for people, problem documents (RFC 9457) for the API."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views import defaults

API_PREFIX = "/api/"


def problem(status: HTTPStatus, detail: str) -> JsonResponse:
    """Return a problem document; `type` about:blank means that `title` is the status's phrase."""
    body = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "detail": detail,
    }
    return JsonResponse(body, status=status, content_type="application/problem+json")


def _is_api(request: HttpRequest) -> bool:
    return request.path.startswith(API_PREFIX)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _is_api(request):
        return problem(HTTPStatus.BAD_REQUEST, "The request could not be understood.")
    return defaults.bad_request(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _is_api(request):
        return problem(HTTPStatus.FORBIDDEN, "You may not do this.")
    return defaults.permission_denied(request, exception)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _is_api(request):
        return problem(
            HTTPStatus.NOT_FOUND,
            f"There is nothing at {request.path}. The calls are listed at /api/v1/docs/.",
        )
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest, *args: Any) -> HttpResponse:
    if _is_api(request):
        return problem(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            "The server made a mistake. It has been logged; please try again later.",
        )
    return defaults.server_error(request)
