"""The context of every page: the site's name, the chosen theme, and CSRF tokens where needed."""

from __future__ import annotations

from django.http import HttpRequest

from courses.themes import chosen_theme


def site(request: HttpRequest) -> dict[str, str]:
    context = {"site_name": "LearnML", "theme": chosen_theme(request)}
    if getattr(request, "is_public", False):
        # A public page: a token would make it this visitor's.
        context["csrf_token"] = ""
    return context
