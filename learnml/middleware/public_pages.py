"""Public pages in memory, compressed as they are sent: shown again while their edition holds.

Stands in front of compression, sessions and forms' tokens, none of which these pages need. Which
pages these are, and why they may be shared, is in `courses.pages.public_pages`.
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

from courses.pages import edition
from courses.pages.conditional import conditional
from courses.pages.public_pages import is_unknown_visitor
from courses.themes import chosen_theme
from learnml.middleware.responses import chosen_coding

Key: TypeAlias = tuple[str | int, ...]
# Half a megabyte for a long chapter without compression; the oldest goes first.
KEPT_PAGES = 64
# A change made past the site, by SQL or by `update()`, shows after this at the latest.
KEPT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class KeptPage:
    """An answer as it is sent."""

    content: bytes
    headers: dict[str, str]
    until: float

    def answer(self, request: HttpRequest) -> HttpResponseBase:
        response = HttpResponse(self.content, headers=self.headers)
        return conditional(request, response) if "ETag" in self.headers else response


class PublicPagesMiddleware:
    """Answer from memory where a page of this edition, address, theme and coding is kept."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self._pages: OrderedDict[Key, KeptPage] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        key = self._key(request)
        if key is None:
            return self.get_response(request)
        kept = self._pages.get(key)
        if kept is None or kept.until < time.monotonic():
            response = self.get_response(request)
            if isinstance(response, HttpResponse) and _may_be_kept(response):
                until = time.monotonic() + KEPT_SECONDS
                self._keep(key, KeptPage(response.content, dict(response.items()), until))
            return response
        return kept.answer(request)

    def _key(self, request: HttpRequest) -> Key | None:
        """Return what the page depends on, None where it may depend on more than that."""
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
        return (edition.current(), *place, chosen_theme(request), coding)

    def _keep(self, key: Key, page: KeptPage) -> None:
        with self._lock:
            self._pages[key] = page
            self._pages.move_to_end(key)
            while len(self._pages) > KEPT_PAGES:
                self._pages.popitem(last=False)


def _may_be_kept(response: HttpResponse) -> bool:
    """Return whether it is a whole public page that gives nothing to one visitor alone."""
    return (
        getattr(response, "is_public", False)
        and response.status_code == HTTPStatus.OK
        and not response.cookies
    )
