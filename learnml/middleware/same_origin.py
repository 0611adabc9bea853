"""Forms of our own pages are known by what the browser says of the sender; tokens are for the rest.

A browser says with each request where the page stands that sent it, and no page can change that:
`Sec-Fetch-Site` (https://www.w3.org/TR/fetch-metadata/; all browsers since 2023, over HTTPS and on
this machine) and `Origin` (RFC 6454, with every POST). So public pages need no token of their own,
which lets one copy of them serve all visitors. Django's check of the token stays for requests of
which the browser says neither.
"""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponseBase


def is_same_origin(request: HttpRequest) -> bool:
    """Return whether the browser says that a page of this very site sent the request.

    False where it says something else or nothing: a sister domain is not this site.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site == "same-origin"
    try:
        return request.headers.get("Origin") == f"{request.scheme}://{request.get_host()}"
    except DisallowedHost:
        return False


class SameOriginMiddleware:
    """Spare Django's protection against forged requests, which stands behind, what is known."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        # What CsrfViewMiddleware and csrf_protect set on a request that they have accepted.
        request.csrf_processing_done = is_same_origin(request)  # type: ignore[attr-defined]
        return self.get_response(request)
