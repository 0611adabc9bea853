"""Authentication of API calls: by token, or by password to create one."""

from __future__ import annotations

import hashlib
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.urls import reverse
from rest_framework.authentication import (
    BaseAuthentication,
    BasicAuthentication,
    get_authorization_header,
)
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from courses.accounts.names import folded
from grader.models import ApiToken
from grader.origin import came_with_token
from grader.services.tokens import find_token

KEYWORD = "Token"
PASSWORD_FAILURES_WINDOW_SECONDS = 300
# For one name from one address; the limit for all names is a setting.
MAX_PASSWORD_FAILURES = 10


class ApiTokenAuthentication(BaseAuthentication):
    """`Authorization: Token <token>`. `request.auth` is the token's row."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        words = get_authorization_header(request).split()
        if not words or words[0].lower() != KEYWORD.lower().encode():
            return None
        if len(words) != 2:
            raise AuthenticationFailed(
                "The Authorization header must be the word Token, a space and the token."
            )
        token = find_token(words[1].decode("latin-1"))
        if token is None:
            raise AuthenticationFailed(
                "This token is unknown, expired or revoked. Make a new one at "
                f"{reverse('api:tokens')}."
            )
        came_with_token(token.name)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return KEYWORD


class PasswordAuthentication(BasicAuthentication):
    """HTTP Basic with user name and password, for tokens only; throttles guessing.

    Failures are counted by address and name together, and by address. Counting by name alone would
    let anybody lock its owner out by guessing wrong on purpose.
    """

    def authenticate(self, request: Request) -> Any:
        words = get_authorization_header(request).split()
        if words and words[0].lower() == KEYWORD.lower().encode():
            raise AuthenticationFailed(
                "Tokens are made, listed and revoked with user name and password (HTTP Basic), "
                "not with a token."
            )
        return super().authenticate(request)

    def authenticate_credentials(
        self, userid: str, password: str, request: Any = None
    ) -> tuple[User, None]:
        # Behind a Unix socket there is no address.
        limits = _failure_limits(BaseThrottle().get_ident(request) or "", userid)
        failures: dict[str, int] = cache.get_many(limits)
        if any(failures.get(key, 0) >= limit for key, limit in limits.items()):
            raise Throttled(
                wait=PASSWORD_FAILURES_WINDOW_SECONDS,
                detail="Too many wrong passwords from your address.",
            )
        try:
            if "\0" in userid:
                # PostgreSQL refuses such a text, and no account has one for its name.
                raise AuthenticationFailed("Invalid username/password.")
            user, _ = super().authenticate_credentials(userid, password, request)
        except AuthenticationFailed:
            for key in limits:
                _count(key)
            raise
        return user, None


def _failure_limits(address: str, userid: str) -> dict[str, int]:
    """Return cache key -> most failures within the window."""
    return {
        # Names differing only in case are one account's, and share a limit.
        _key("one", address, folded(userid)): MAX_PASSWORD_FAILURES,
        _key("all", address): settings.WRONG_PASSWORDS_PER_FIVE_MINUTES,
    }


def _key(kind: str, *parts: str) -> str:
    # Hashed: user names may have characters that cache keys may not.
    text = "\0".join(parts).encode("utf-8", "replace")
    return f"api-password-failures:{kind}:{hashlib.sha256(text).hexdigest()}"


def _count(key: str) -> None:
    if not cache.add(key, 1, PASSWORD_FAILURES_WINDOW_SECONDS):
        try:
            cache.incr(key)
        except ValueError:  # It expired in between.
            cache.set(key, 1, PASSWORD_FAILURES_WINDOW_SECONDS)
