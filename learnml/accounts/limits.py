"""When to come back after too many attempts."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

from allauth.account import app_settings
from allauth.core.internal import ratelimit
from django.core.cache import cache
from django.http import HttpRequest

APP = "allauth.account"
SHORTEST_WAIT_SECONDS = 60
"""Where the limit is unknown: it is that of e-mails to one address, per minute."""


def seconds_to_wait(request: HttpRequest) -> int:
    """Return after how many whole seconds a refused caller may try again."""
    now = time.time()
    waits = [wait - now for wait in _free_again(request)]
    return max(math.ceil(max(waits, default=0)), 1) if waits else SHORTEST_WAIT_SECONDS


def _free_again(request: HttpRequest) -> Iterator[float]:
    """Yield when each exhausted limit of this address and account has room again."""
    kinds = {"ip", "user"} if request.user.is_authenticated else {"ip"}
    for action in app_settings.RATE_LIMITS:
        for rate in ratelimit.get_rates(app=APP, action=action):
            if rate.per not in kinds:
                continue
            key = ratelimit.get_cache_key(request, app=APP, action=action, rate=rate)
            history: list[float] = cache.get(key, [])
            if len(history) >= rate.amount:
                yield history[rate.amount - 1] + rate.duration
