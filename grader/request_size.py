"""Refuse requests that are too large before they are parsed, so that the client reads why."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

CHUNK_BYTES = 64 * 1024
MAX_DRAINED_BYTES = 32 * 1024 * 1024


def is_too_large(request: HttpRequest) -> bool:
    """Return whether the announced size is above the limit for everybody."""
    return announced_bytes(request) > settings.MAX_BODY_BYTES


def announced_bytes(request: HttpRequest) -> int:
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0


def drain(request: HttpRequest) -> None:
    """Read and drop the body: a client that is still sending would see a reset, not the answer."""
    left = min(announced_bytes(request), MAX_DRAINED_BYTES)
    while left > 0:
        try:
            chunk = request.read(min(CHUNK_BYTES, left))
        except OSError:
            return  # The client went away; nobody waits for the answer.
        if not chunk:
            return
        left -= len(chunk)
