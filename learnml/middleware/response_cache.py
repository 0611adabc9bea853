"""A response cache for public pages, compressed as they are sent, for one cache generation.

Stands in front of compression, sessions and CSRF tokens, none of which these pages need. Which
pages are public, and why they may be shared, is in `courses.pages.public_pages`.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeAlias

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from courses.pages import generation
from courses.pages.etag import conditional
from courses.pages.public_pages import is_unknown_visitor
from courses.themes import chosen_theme
from learnml.middleware.responses import chosen_coding

Key: TypeAlias = tuple[str | int, ...]
# A long chapter takes half a megabyte without compression. The oldest is dropped first.
CACHED_PAGES = 64
# A change made behind the site's back, by SQL or by `update()`, shows after this at the latest.
CACHED_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class CachedPage:
    """A response as it is sent."""

    content: bytes
    headers: dict[str, str]
    until: float

    def answer(self, request: HttpRequest) -> HttpResponseBase:
        response = HttpResponse(self.content, headers=self.headers)
        return conditional(request, response) if "ETag" in self.headers else response


class ResponseCacheMiddleware:
    """Answer from memory where this page is cached: by generation, address, theme and coding."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self._pages: OrderedDict[Key, CachedPage] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        key = self._key(request)
        if key is None:
            return self.get_response(request)
        cached = self._pages.get(key)
        if cached is None or cached.until < time.monotonic():
            response = self.get_response(request)
            if isinstance(response, HttpResponse) and _is_cacheable(response):
                until = time.monotonic() + CACHED_SECONDS
                self._store(key, CachedPage(response.content, dict(response.items()), until))
            return response
        return cached.answer(request)

    def _key(self, request: HttpRequest) -> Key | None:
        """Return the cache key; None where the page may depend on more than the key holds."""
        if request.method not in ("GET", "HEAD") or request.META.get("QUERY_STRING"):
            return None
        if "HTTP_AUTHORIZATION" in request.META or not is_unknown_visitor(request):
            return None
        try:
            host = request.get_host()
        except DisallowedHost:
            return None
        coding = chosen_coding(request.headers.get("Accept-Encoding", ""))
        place = (request.scheme or "", host, request.path_info)
        return (generation.current(), *place, chosen_theme(request), coding)

    def _store(self, key: Key, page: CachedPage) -> None:
        with self._lock:
            self._pages[key] = page
            self._pages.move_to_end(key)
            while len(self._pages) > CACHED_PAGES:
                self._pages.popitem(last=False)


def _is_cacheable(response: HttpResponse) -> bool:
    """Return whether it is a complete public page with nothing for one visitor alone."""
    return (
        getattr(response, "is_public", False)
        and response.status_code == HTTPStatus.OK
        and not response.cookies
    )
