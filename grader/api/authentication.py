"""How a caller of the API proves who it is: an API token, or a password to make one."""

from __future__ import annotations

import hashlib
from typing import Any

from django.contrib.auth.models import User
from django.core.cache import cache
from rest_framework.authentication import (
    BaseAuthentication,
    BasicAuthentication,
    get_authorization_header,
)
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.request import Request

from grader.models import ApiToken
from grader.services.tokens import find_token

KEYWORD = "Token"
MAX_PASSWORD_FAILURES = 10
PASSWORD_FAILURES_WINDOW_SECONDS = 300


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
                "This token is unknown, expired or revoked. Make a new one at /api/v1/tokens/."
            )
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return KEYWORD


class PasswordAuthentication(BasicAuthentication):
    """HTTP Basic with user name and password, for tokens alone; slows down guessing."""

    def authenticate_credentials(
        self, userid: str, password: str, request: Any = None
    ) -> tuple[User, None]:
        key = self._failures_key(userid)
        failures: int = cache.get(key, 0)
        if failures >= MAX_PASSWORD_FAILURES:
            raise Throttled(
                wait=PASSWORD_FAILURES_WINDOW_SECONDS,
                detail="Too many wrong passwords for this user name.",
            )
        try:
            user, _ = super().authenticate_credentials(userid, password, request)
        except AuthenticationFailed:
            cache.set(key, failures + 1, PASSWORD_FAILURES_WINDOW_SECONDS)
            raise
        return user, None

    @staticmethod
    def _failures_key(userid: str) -> str:
        # Hashed: a user name may hold what a cache key may not.
        name = hashlib.sha256(userid.encode("utf-8", "replace")).hexdigest()
        return f"api-password-failures:{name}"
