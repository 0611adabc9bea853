"""Conditional GET for whole pages: a page that would come out the same is not sent again."""

from __future__ import annotations

import hashlib
import re

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response

# The token is masked anew each time it is written; the secret behind it is what matters.
_CSRF_FIELD = re.compile(rb'(name="csrfmiddlewaretoken" value=")[^"]*"')


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
    return (
        get_conditional_response(request, etag=response.headers["ETag"], response=response)
        or response
    )
