"""Pages that are the same for every visitor of whom nothing is known.

Such a page holds no token of a form: what it sends is known to come from it by what the browser
says of the sender (`learnml.middleware.same_origin`). That makes it one page for all, which can be
kept.
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
    """Return whether nothing that the browser sent could make the page this visitor's own.

    A session, messages, anything unheard of: each is a cookie. The theme is no secret, and the
    token's cookie is not read by a page without forms' tokens.
    """
    return request.COOKIES.keys() <= {THEME_COOKIE, settings.CSRF_COOKIE_NAME}


def public_page(view: View) -> View:
    """Mark a view whose page is the same for all unknown visitors, and its answers to them."""

    @wraps(view)
    def marked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        request.is_public = is_unknown_visitor(request)  # type: ignore[attr-defined]
        response = view(request, *args, **kwargs)
        if request.is_public:  # type: ignore[attr-defined]
            response.is_public = True  # type: ignore[attr-defined]
        return response

    return marked
