"""When to come back after too many tries."""

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
"""Where it is not known which limit was met: that of letters to one address, by the minute."""


def seconds_to_wait(request: HttpRequest) -> int:
    """Return after how long a caller that was refused may try again, in whole seconds."""
    now = time.time()
    waits = [wait - now for wait in _free_again(request)]
    return max(math.ceil(max(waits, default=0)), 1) if waits else SHORTEST_WAIT_SECONDS


def _free_again(request: HttpRequest) -> Iterator[float]:
    """Yield when each limit of this address, and of this account, that is used up has room."""
    kinds = {"ip", "user"} if request.user.is_authenticated else {"ip"}
    for action in app_settings.RATE_LIMITS:
        for rate in ratelimit.get_rates(app=APP, action=action):
            if rate.per not in kinds:
                continue
            key = ratelimit.get_cache_key(request, app=APP, action=action, rate=rate)
            history: list[float] = cache.get(key, [])
            if len(history) >= rate.amount:
                yield history[rate.amount - 1] + rate.duration
