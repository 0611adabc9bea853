"""The theme of the pages, kept in a cookie, which is no secret."""

from __future__ import annotations

from django.http import HttpRequest

THEMES = ("auto", "light", "dark")
THEME_COOKIE = "theme"


def chosen_theme(request: HttpRequest) -> str:
    """Return the theme from its cookie; "auto" where there is none that we know."""
    theme = request.COOKIES.get(THEME_COOKIE, "auto")
    return theme if theme in THEMES else "auto"
