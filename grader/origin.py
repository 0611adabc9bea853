"""The origin of an act: a page, the REST API and with which token, or the server itself.

Services do not see requests, but their audit entries name the origin.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase

from grader.models import Origin


@dataclass(slots=True)
class CurrentOrigin:
    """The origin of the current act. `token_name` is empty without an API token."""

    kind: Origin
    token_name: str = ""
    request: HttpRequest | None = None


_current: ContextVar[CurrentOrigin | None] = ContextVar("origin", default=None)


class OriginMiddleware:
    """Marks everything a request does as coming from it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        former = _current.set(CurrentOrigin(Origin.PAGE, request=request))
        try:
            return self.get_response(request)
        finally:
            _current.reset(former)


def current_origin() -> CurrentOrigin:
    return _current.get() or CurrentOrigin(Origin.SERVER)


def current_user() -> User | None:
    """Return the user who is signed in to the current request; None without one."""
    user = getattr(current_origin().request, "user", None)
    return user if isinstance(user, User) else None


def came_by_rest() -> None:
    """Mark the request as one of the REST API."""
    if (origin := _current.get()) is not None:
        origin.kind = Origin.REST


def came_with_token(name: str) -> None:
    """Record the name of the API token that the request came with."""
    if (origin := _current.get()) is not None:
        origin.token_name = name
