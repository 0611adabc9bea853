"""Rate limits per address: enough for a class behind one router."""

from __future__ import annotations

import time

from allauth.account.adapter import get_adapter
from allauth.core.internal.ratelimit import truncate_ip
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

WINDOW_SECONDS = 60


def within_limit(request: HttpRequest, what: str, most: int) -> bool:
    """Count one `what`; False when the address exceeds its limit for this minute. True without a
    cache.
    """
    window = int(time.time()) // WINDOW_SECONDS
    key = f"{what}:{_address(request)}:{window}"
    if cache.add(key, 1, timeout=WINDOW_SECONDS):
        return True
    try:
        return cache.incr(key) <= most
    except ValueError:
        # The minute ended between the two calls.
        return True


def _address(request: HttpRequest) -> str:
    """Return the client's address; empty where it is unknown, as behind a Unix socket."""
    try:
        # The adapter knows how many proxies to trust.
        return str(truncate_ip(get_adapter().get_client_ip(request)))
    except PermissionDenied:
        return ""
