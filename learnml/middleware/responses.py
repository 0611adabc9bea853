"""Post-processing of every response: compression, `Retry-After`, no body after HEAD."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus

import brotli  # type: ignore[import-untyped]
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_vary_headers

BROTLI = "br"
GZIP = "gzip"
# For a chapter's page of 600 kB: 8 ms and 50 kB at 5, 12 ms and 47 kB at 7, 30 ms and 46 kB at 9. A
# public page is compressed once for all.
BROTLI_QUALITY = 7
BROTLI_QUALITY_PUBLIC = 9
LEAST_BYTES = 200
RETRY_AFTER_SECONDS = 60
_CODING = re.compile(r"\s*([\w!#$%&'*+.^`|~-]+)\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?")


class HeadMiddleware:
    """Drop the body of responses to HEAD; comes first."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.method != "HEAD":
            return response
        if isinstance(response, StreamingHttpResponse):
            response.streaming_content = ()
        elif isinstance(response, HttpResponse):
            # Content-Length stays, as with GET.
            response.headers.setdefault("Content-Length", str(len(response.content)))
            response.content = b""
        return response


class RetryAfterMiddleware:
    """Add `Retry-After` to every 429 that lacks it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
            response.headers.setdefault("Retry-After", str(RETRY_AFTER_SECONDS))
        return response


class CompressionMiddleware(GZipMiddleware):
    """Compress pages with Brotli where accepted, otherwise with gzip.

    A page repeats parts of its address, beside secrets, so its length must not reveal which bytes
    repeat (BREACH). CSRF tokens are masked differently in each page; beyond that, gzip's header
    gets a name of random length, and Brotli's responses a header of that kind.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        coding = chosen_coding(request.headers.get("Accept-Encoding", ""))
        if coding == BROTLI and isinstance(response, HttpResponse):
            return self._with_brotli(response)
        if coding or response.has_header("Content-Encoding"):
            return super().process_response(request, response)
        patch_vary_headers(response, ("Accept-Encoding",))
        return response

    def _with_brotli(self, response: HttpResponse) -> HttpResponse:
        if len(response.content) < LEAST_BYTES or response.has_header("Content-Encoding"):
            return response
        patch_vary_headers(response, ("Accept-Encoding",))
        is_public = getattr(response, "is_public", False)
        quality = BROTLI_QUALITY_PUBLIC if is_public else BROTLI_QUALITY
        compressed = brotli.compress(response.content, mode=brotli.MODE_TEXT, quality=quality)
        if len(compressed) >= len(response.content):
            return response
        response.content = compressed
        response.headers["Content-Length"] = str(len(compressed))
        response.headers["Content-Encoding"] = BROTLI
        response.headers["X-Padding"] = "x" * secrets.randbelow(self.max_random_bytes + 1)
        etag = response.headers.get("ETag", "")
        if etag.startswith('"'):
            # Another encoding of the same page: weakly equal.
            response.headers["ETag"] = f"W/{etag}"
        return response


@lru_cache(maxsize=256)
def chosen_coding(accept_encoding: str) -> str:
    """Return "br", "gzip", or "" for none, from an Accept-Encoding header: Brotli where equal."""
    accepted = accepted_codings(accept_encoding)
    brotli_quality, gzip_quality = accepted.get(BROTLI, 0.0), accepted.get(GZIP, 0.0)
    if brotli_quality > 0 and brotli_quality >= gzip_quality:
        return BROTLI
    return GZIP if gzip_quality > 0 else ""


def accepted_codings(header: str) -> dict[str, float]:
    """Return content coding -> quality from an Accept-Encoding header (RFC 9110, 12.5.3).

    `*` stands for Brotli and gzip where they are not named; malformed parts are ignored.
    """
    found: dict[str, float] = {}
    for part in header.split(","):
        if match := _CODING.fullmatch(part):
            found[match[1].lower()] = float(match[2] or 1)
    if "*" in found:
        found = {BROTLI: found["*"], GZIP: found["*"], **found}
    return found
