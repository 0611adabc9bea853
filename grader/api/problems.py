"""Errors as RFC 9457 problem documents."""

from __future__ import annotations

import math
from http import HTTPStatus
from typing import Any

from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.http import Http404, UnreadablePostError
from django.urls import reverse
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from grader.messages import clean
from grader.services.errors import Refused, TooMany

CONTENT_TYPE = "application/problem+json"


class BodyTooLarge(exceptions.APIException):
    status_code = 413
    default_code = "body_too_large"
    default_detail = (
        "The request's body is too large. A source has at most 64 KB; send the class alone."
    )


def exception_handler(exc: Exception, context: dict[str, Any]) -> Response | None:
    """Turn an exception of a view into a problem document; None lets a defect become a 500."""
    response = _response(exc, context.get("view"))
    if response is not None:
        set_rollback()
    return response


def _response(exc: Exception, view: Any) -> Response | None:
    if isinstance(exc, Refused):
        return _refused(exc)
    if isinstance(exc, Http404):
        # Django's text names models and patterns.
        return problem(404, "not_found", "There is nothing at this address, or it is not yours.")
    if isinstance(exc, PermissionDenied):
        return problem(403, "permission_denied", "You may not do this.")
    if isinstance(exc, RequestDataTooBig):
        return problem(413, BodyTooLarge.default_code, BodyTooLarge.default_detail)
    if isinstance(exc, UnreadablePostError | SuspiciousOperation):
        return problem(400, "malformed", "The request's body could not be read.")
    if isinstance(exc, exceptions.APIException):
        return _from_framework(exc, view)
    return None


def _refused(refusal: Refused) -> Response:
    errors = {refusal.field: [refusal.message]} if refusal.field else None
    response = problem(refusal.status, refusal.code, refusal.message, errors)
    if isinstance(refusal, TooMany):
        response["Retry-After"] = str(refusal.retry_after_seconds)
    return response


def _from_framework(exc: exceptions.APIException, view: Any) -> Response:
    if isinstance(exc, exceptions.ValidationError):
        errors = _flatten(exc.detail)
        detail = "Some values cannot be used; `errors` says which and why."
        response = problem(exc.status_code, "invalid", detail, errors)
    else:
        codes = exc.get_codes()
        code = codes if isinstance(codes, str) else exc.default_code
        response = problem(exc.status_code, code, _what_to_do(exc, view) or str(exc.detail))
    if header := getattr(exc, "auth_header", None):
        response["WWW-Authenticate"] = header
    if (wait := getattr(exc, "wait", None)) is not None:
        response["Retry-After"] = str(max(1, math.ceil(wait)))
    return response


def _what_to_do(exc: exceptions.APIException, view: Any) -> str:
    """Return what the caller can do, where the framework's text does not say it; else empty."""
    if isinstance(exc, exceptions.NotAuthenticated):
        if str(getattr(exc, "auth_header", "")).startswith("Basic"):
            return "Send your user name and password: an `Authorization` header of HTTP Basic."
        return (
            "Send the header `Authorization: Token ...` with an API token of yours. `POST "
            f"{reverse('api:tokens')}`, with user name and password (HTTP Basic), makes one."
        )
    if isinstance(exc, exceptions.MethodNotAllowed) and view is not None:
        return f"This address does not take this method. It takes {_words(view.allowed_methods)}."
    if isinstance(exc, exceptions.UnsupportedMediaType) and view is not None:
        types = [parser.media_type for parser in view.get_parsers()]
        return f"The body's Content-Type is not taken. Send {_words(types, 'or')}."
    if isinstance(exc, exceptions.NotAcceptable) and view is not None:
        types = list(dict.fromkeys(each.media_type for each in view.get_renderers()))
        return f"The Accept header asks for what this address does not give: {_words(types, 'or')}."
    return ""


def _words(names: list[str], link: str = "and") -> str:
    return f" {link} ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def problem(
    status: int, code: str, detail: str, errors: dict[str, list[str]] | None = None
) -> Response:
    """Return a problem document as a response of a view."""
    # Texts may repeat what was sent, and half a surrogate pair cannot be written as UTF-8.
    body = clean(problem_body(status, code, detail, errors))
    return Response(body, status=status, content_type=CONTENT_TYPE)


def problem_body(
    status: int, code: str, detail: str, errors: dict[str, list[str]] | None = None
) -> dict[str, Any]:
    """Return a problem's members. `code` is stable and for programs, `detail` for people."""
    body: dict[str, Any] = {
        "type": f"urn:learnml:problem:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
    }
    if errors:
        body["errors"] = errors
    return body


def _flatten(detail: Any, prefix: str = "") -> dict[str, list[str]]:
    """Return nested validation errors as field path -> texts."""
    if isinstance(detail, dict):
        found: dict[str, list[str]] = {}
        for key, value in detail.items():
            for path, texts in _flatten(value, f"{prefix}.{key}" if prefix else str(key)).items():
                found.setdefault(path, []).extend(texts)
        return found
    if isinstance(detail, list):
        found = {}
        for position, value in enumerate(detail):
            nested = isinstance(value, dict | list)
            path = f"{prefix}.{position}" if nested and prefix else prefix
            for name, texts in _flatten(value, path).items():
                found.setdefault(name, []).extend(texts)
        return found
    return {prefix or "non_field_errors": [str(detail)]}
