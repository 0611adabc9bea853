"""What every page gets: the site's name, the chosen theme, and tokens for forms where needed."""

from __future__ import annotations

from django.http import HttpRequest

from courses.themes import chosen_theme


def site(request: HttpRequest) -> dict[str, str]:
    context = {"site_name": "LearnML", "theme": chosen_theme(request)}
    if getattr(request, "is_public", False):
        # The page is for all; making a token would make it this visitor's.
        context["csrf_token"] = ""
    return context
