"""What is done to every answer on its way out: compression, and no body after HEAD."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable

import brotli  # type: ignore[import-untyped]
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_vary_headers

BROTLI = "br"
GZIP = "gzip"
# Beyond it pages hardly become smaller, and each answer waits longer.
BROTLI_QUALITY = 5
LEAST_BYTES = 200
_CODING = re.compile(r"\s*([\w!#$%&'*+.^`|~-]+)\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?")


class HeadMiddleware:
    """Drop the body where the method asked for the headers alone; stands in front of all others."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.method != "HEAD":
            return response
        if isinstance(response, StreamingHttpResponse):
            response.streaming_content = ()
        elif isinstance(response, HttpResponse):
            # Its length stays told, as with GET.
            response.headers.setdefault("Content-Length", str(len(response.content)))
            response.content = b""
        return response


class CompressionMiddleware(GZipMiddleware):
    """Compress pages with Brotli for those who take it, otherwise with gzip.

    A page repeats what its address holds, beside secrets, so its length must not tell which of
    its bytes repeat (BREACH). The tokens of forms are masked anew in each page; beyond that gzip
    puts a name of random length into its header, and Brotli's pages get a header of that kind.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        accepted = accepted_codings(request.headers.get("Accept-Encoding", ""))
        takes_brotli = accepted.get(BROTLI, 0.0) > 0 and accepted[BROTLI] >= accepted.get(GZIP, 0.0)
        if takes_brotli and isinstance(response, HttpResponse):
            return self._with_brotli(response)
        if response.has_header("Content-Encoding") or accepted.get(GZIP, 0.0) > 0:
            return super().process_response(request, response)
        patch_vary_headers(response, ("Accept-Encoding",))
        return response

    def _with_brotli(self, response: HttpResponse) -> HttpResponse:
        if len(response.content) < LEAST_BYTES or response.has_header("Content-Encoding"):
            return response
        patch_vary_headers(response, ("Accept-Encoding",))
        compressed = brotli.compress(
            response.content, mode=brotli.MODE_TEXT, quality=BROTLI_QUALITY
        )
        if len(compressed) >= len(response.content):
            return response
        response.content = compressed
        response.headers["Content-Length"] = str(len(compressed))
        response.headers["Content-Encoding"] = BROTLI
        response.headers["X-Padding"] = "x" * secrets.randbelow(self.max_random_bytes + 1)
        etag = response.headers.get("ETag", "")
        if etag.startswith('"'):
            # Another encoding of the same page: the same in meaning, not in bytes.
            response.headers["ETag"] = f"W/{etag}"
        return response


def accepted_codings(header: str) -> dict[str, float]:
    """Return content coding -> quality from an Accept-Encoding header (RFC 9110, 12.5.3).

    `*` stands for Brotli and gzip where they are not named; parts that cannot be read count as
    not sent.
    """
    found: dict[str, float] = {}
    for part in header.split(","):
        if match := _CODING.fullmatch(part):
            found[match[1].lower()] = float(match[2] or 1)
    if "*" in found:
        found = {BROTLI: found["*"], GZIP: found["*"], **found}
    return found
