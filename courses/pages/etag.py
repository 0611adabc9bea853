"""Conditional requests: what came before is not sent again, what changed since is not touched.

A tag names a state, not bytes: on its way out it may be made weak (`W/"..."`) where the answer is
compressed, here or by a proxy, or get the coding's name for a suffix. Whatever became of it, who
sends it back means that state; so tags are compared by what stands in them, also for `If-Match`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseBase

# The token is masked anew each time it is written; the secret behind it is what matters.
_CSRF_FIELD = re.compile(rb'(name="csrfmiddlewaretoken" value=")[^"]*"')
_QUOTED = re.compile(r'(?:W/)?"([^"]*)"')
_BARE = re.compile(r"(?:W/)?([^\s,\"*]+)")
# As Apache, Caddy and Jetty write them.
_CODING = re.compile(r"(?:--?|;)(?:gzip|br|zstd|deflate)$")
# What a 304 must carry of the answer that it stands for (RFC 9110, 15.4.5).
_KEPT_HEADERS = ("Cache-Control", "Content-Location", "Date", "ETag", "Expires", "Vary")


def with_etag(request: HttpRequest, response: HttpResponse, personal: bool) -> HttpResponseBase:
    """Give a rendered page its ETag, or answer 304 where the browser has this page already.

    The tag is a hash of the page itself and so needs no knowledge of what went into it: theme,
    progress, panels, messages. A new CSRF secret (after signing in) makes a new tag, because the
    old page's forms would be refused. `personal` pages are marked private.
    """
    digest = hashlib.sha256(_CSRF_FIELD.sub(rb'\1"', response.content))
    digest.update(str(request.META.get("CSRF_COOKIE", "")).encode())
    response.headers["ETag"] = f'W/"{digest.hexdigest()[:32]}"'
    # Always asked for again: an answer or a new revision must show at once.
    response.headers["Cache-Control"] = "private, no-cache" if personal else "no-cache"
    return conditional(request, response)


def conditional(request: HttpRequest, response: HttpResponse) -> HttpResponseBase:
    """Return the answer to a read, or 304 or 412 in its place, as the request's conditions say."""
    status = failed_condition(request, response.headers["ETag"])
    if status is None:
        return response
    if status is HTTPStatus.PRECONDITION_FAILED:
        return HttpResponse(status=status)
    known = HttpResponse(status=status)
    for name in _KEPT_HEADERS:
        if name in response.headers:
            known.headers[name] = response.headers[name]
    known.cookies = response.cookies
    return known


def failed_condition(request: HttpRequest, etag: str) -> HTTPStatus | None:
    """Return the status for a condition of a read that does not hold, None where all do.

    In the order of RFC 9110, 13.2.2: 412 where `If-Match` names other states, then 304 where
    `If-None-Match` names this one.
    """
    if_match = request.headers.get("If-Match", "")
    if if_match.strip() and not is_named(if_match, etag):
        return HTTPStatus.PRECONDITION_FAILED
    if is_named(request.headers.get("If-None-Match", ""), etag):
        return HTTPStatus.NOT_MODIFIED
    return None


def is_named(header: str, etag: str, is_same: Callable[[str, str], bool] = str.__eq__) -> bool:
    """Return whether the tag is one of a header's: `*` names any, an empty header none.

    `is_same` compares what stands in a tag of the header with what stands in `etag`.
    """
    (own,) = opaque_tags(etag)
    return header.strip() == "*" or any(is_same(tag, own) for tag in opaque_tags(header))


def opaque_tags(header: str) -> list[str]:
    """Return what stands in the tags of a header, without weakness, quotes and codings.

    Quotes may be missing altogether: a shell eats them.
    """
    found = (_QUOTED if '"' in header else _BARE).findall(header)
    return [_CODING.sub("", tag) for tag in found]
