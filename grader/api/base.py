"""The base of all views of the API."""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth.models import User
from django.http import HttpRequest
from drf_spectacular.utils import OpenApiResponse
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import AllowAny, IsAuthenticated
from rest_framework.request import Request
from rest_framework.views import APIView

from grader import request_size
from grader.origin import came_by_rest

from .permissions import Scoped
from .problems import BodyTooLarge
from .serializers import ProblemSerializer

REPEATED = "This stands in the address twice. Give it once; for several values, ask once for each."


def caller(request: Request) -> User:
    """Return the user of a view that asks for one."""
    return cast(User, request.user)


class ApiView(APIView):
    """Limits the request's size before anything reads it, and requires the scopes in `scopes`.

    `query` lists the query parameters; all others are refused.
    """

    query: frozenset[str] = frozenset()

    permission_classes: Any = (IsAuthenticated, Scoped)

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        # Before authentication: a wrong password came over REST too.
        came_by_rest()
        return super().initialize_request(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if request_size.is_too_large(request._request):
            request_size.drain(request._request)
            raise BodyTooLarge
        super().initial(request, *args, **kwargs)
        check_query(request, self.query)


def check_query(request: Request, known: frozenset[str]) -> None:
    """Refuse query parameters that are unknown or repeated.

    A misspelt filter would return everything, and of two values one would be ignored.

    Raises:
        ValidationError: names the unknown and the repeated ones.
    """
    there_are = f"There are {', '.join(sorted(known))}." if known else "This address takes none."
    errors = {
        name: [REPEATED if name in known else f"There is no such query parameter. {there_are}"]
        for name, values in sorted(request.query_params.lists())
        if name not in known or len(values) > 1
    }
    if errors:
        raise ValidationError(errors)


class PublicApiView(ApiView):
    """Readable by anyone; a token that is sent must still be valid."""

    permission_classes: Any = (AllowAny, Scoped)


_TEXTS = {
    400: "A value, the body or the address's query cannot be used.",
    401: "No credentials, or bad ones.",
    403: "The token's scopes or the role do not carry this.",
    404: "There is nothing at this address, or it is not yours.",
    405: "This address does not take this method.",
    406: "Only JSON is given.",
    409: "It does not fit what is there already.",
    412: "It changed since it was read.",
    413: "The body or the source is too large.",
    415: "The body's type is not taken.",
    428: "`If-Match` is missing.",
    429: "Too much at once; `Retry-After` says when to come back.",
}


def problems(*statuses: int) -> dict[tuple[int, str], OpenApiResponse]:
    """Return the schema of the problem documents that a call may respond with."""
    return {
        (status, "application/problem+json"): OpenApiResponse(
            ProblemSerializer, description=_TEXTS[status]
        )
        for status in sorted({*statuses, 400, 401, 405, 406, 429})
    }
