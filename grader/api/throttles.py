"""Request rates of callers; the limits are settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework import throttling

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.views import APIView


class _SettingsRate:
    scope: str

    def get_rate(self) -> str | None:
        # Read at each call: the framework would read it at import time.
        rate: str | None = settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"][self.scope]
        return rate


class AnonymousThrottle(_SettingsRate, throttling.AnonRateThrottle):
    scope = "anonymous"


class UserThrottle(_SettingsRate, throttling.UserRateThrottle):
    scope = "user"

    def get_cache_key(self, request: Request, view: APIView) -> str | None:
        if not request.user.is_authenticated:
            return None
        return super().get_cache_key(request, view)
