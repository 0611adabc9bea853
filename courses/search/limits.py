"""How often one address may search: enough for a class behind one router, no load for the site."""

from __future__ import annotations

import time

from allauth.account.adapter import get_adapter
from allauth.core.internal.ratelimit import truncate_ip
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest

WINDOW_SECONDS = 60


def within_limit(request: HttpRequest) -> bool:
    """Count a search; False when the address has used up this minute's. Without a cache, True."""
    window = int(time.time()) // WINDOW_SECONDS
    # The adapter knows how many proxies to trust.
    key = f"search:{truncate_ip(get_adapter().get_client_ip(request))}:{window}"
    if cache.add(key, 1, timeout=WINDOW_SECONDS):
        return True
    try:
        return cache.incr(key) <= settings.SEARCHES_PER_MINUTE
    except ValueError:
        # The minute ended between the two calls.
        return True
