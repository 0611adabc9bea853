"""Pages that are the same for every anonymous visitor without a session.

Such a page holds no CSRF token: its forms are recognised by the browser's own headers
(`learnml.middleware.same_origin`). So it is one page for everybody, which can be cached.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from courses.themes import THEME_COOKIE

View: TypeAlias = Callable[..., HttpResponseBase]


def is_unknown_visitor(request: HttpRequest) -> bool:
    """Return whether no cookie could make the page this visitor's own.

    A session, messages and anything unknown arrive as cookies. The theme is not private, and the
    CSRF cookie is not used by a page without tokens.
    """
    return request.COOKIES.keys() <= {THEME_COOKIE, settings.CSRF_COOKIE_NAME}


def public_page(view: View) -> View:
    """Mark a view whose page is the same for all unknown visitors, and its responses to them."""

    @wraps(view)
    def marked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        request.is_public = is_unknown_visitor(request)  # type: ignore[attr-defined]
        response = view(request, *args, **kwargs)
        if request.is_public:  # type: ignore[attr-defined]
            response.is_public = True  # type: ignore[attr-defined]
        return response

    return marked
