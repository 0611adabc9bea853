"""ETags and conditional requests: 304 for what the client has, 412 for what changed since.

A tag names a state, not bytes. A proxy or our own compression may make it weak (`W/"..."`) or
append the coding's name; a client that sends it back still means that state. So tags are compared
by their opaque part, also for `If-Match`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseBase

# The token is masked differently each time; only the secret behind it matters.
_CSRF_FIELD = re.compile(rb'(name="csrfmiddlewaretoken" value=")[^"]*"')
_QUOTED = re.compile(r'(?:W/)?"([^"]*)"')
_BARE = re.compile(r"(?:W/)?([^\s,\"*]+)")
# As Apache, Caddy and Jetty write them.
_CODING = re.compile(r"(?:--?|;)(?:gzip|br|zstd|deflate)$")
# Headers that a 304 repeats from the full response (RFC 9110, 15.4.5).
_KEPT_HEADERS = ("Cache-Control", "Content-Location", "Date", "ETag", "Expires", "Vary")


def with_etag(request: HttpRequest, response: HttpResponse, personal: bool) -> HttpResponseBase:
    """Set a rendered page's ETag, or answer 304 where the browser already has this page.

    The tag is a hash of the page itself, so it covers everything on it: theme, progress, panels,
    messages. A new CSRF secret (after signing in) makes a new tag, because the old page's forms
    would be refused. `personal` pages are marked private.
    """
    digest = hashlib.sha256(_CSRF_FIELD.sub(rb'\1"', response.content))
    digest.update(str(request.META.get("CSRF_COOKIE", "")).encode())
    response.headers["ETag"] = f'W/"{digest.hexdigest()[:32]}"'
    # Always revalidated: an answer or a new revision must show at once.
    response.headers["Cache-Control"] = "private, no-cache" if personal else "no-cache"
    return conditional(request, response)


def conditional(request: HttpRequest, response: HttpResponse) -> HttpResponseBase:
    """Return the response to a read, or 304 or 412 instead, as the request's conditions say."""
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
    """Return the status for a failed condition of a read, None where all conditions hold.

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
    """Return whether a header lists the tag: `*` matches any, an empty header none.

    `is_same` compares the opaque part of a tag in the header with that of `etag`.
    """
    (own,) = opaque_tags(etag)
    return header.strip() == "*" or any(is_same(tag, own) for tag in opaque_tags(header))


def opaque_tags(header: str) -> list[str]:
    """Return the opaque parts of the tags in a header, without weakness, quotes and codings.

    Quotes may be missing: shells eat them.
    """
    found = (_QUOTED if '"' in header else _BARE).findall(header)
    return [_CODING.sub("", tag) for tag in found]
