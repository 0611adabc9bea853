"""What every page gets: the site's name and the chosen theme."""

from __future__ import annotations

from django.http import HttpRequest

THEMES = ("auto", "light", "dark")
THEME_COOKIE = "theme"


def site(request: HttpRequest) -> dict[str, str]:
    theme = request.COOKIES.get(THEME_COOKIE, "auto")
    return {"site_name": "LearnML", "theme": theme if theme in THEMES else "auto"}
