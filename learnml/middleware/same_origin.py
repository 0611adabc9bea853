"""Forms of our own pages are recognised by the browser's headers; tokens are for the rest.

With each request, browsers say which page sent it, and no page can change that: `Sec-Fetch-Site`
(https://www.w3.org/TR/fetch-metadata/; all browsers since 2023, over HTTPS and on this machine) and
`Origin` (RFC 6454, with every POST). So public pages need no token of their own, and one copy of
them can serve all visitors. Django's token check remains for requests with neither header.
"""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponseBase


def is_same_origin(request: HttpRequest) -> bool:
    """Return whether the browser says that a page of this very site sent the request.

    False for anything else and for no statement: a sister domain is not this site.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site == "same-origin"
    try:
        return request.headers.get("Origin") == f"{request.scheme}://{request.get_host()}"
    except DisallowedHost:
        return False


class SameOriginMiddleware:
    """Exempt recognised requests from Django's CSRF check, which comes after it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        # Set by CsrfViewMiddleware and csrf_protect on accepted requests.
        request.csrf_processing_done = is_same_origin(request)  # type: ignore[attr-defined]
        return self.get_response(request)
