"""The search page, and its list of results alone for the dialog."""

from __future__ import annotations

from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from courses.limits import WINDOW_SECONDS, within_limit

from .service import MAX_QUERY_CHARACTERS, MAX_RESULTS, NOTHING, search

MAX_RESULTS_IN_DIALOG = 12


@require_safe
def search_page(request: HttpRequest) -> HttpResponseBase:
    """Show the results for `q`; with `fragment` only the list."""
    text = request.GET.get("q", "").replace("\0", "").strip()[:MAX_QUERY_CHARACTERS]
    is_fragment = "fragment" in request.GET
    limited = bool(text) and not within_limit(request, "search", settings.SEARCHES_PER_MINUTE)
    limit = MAX_RESULTS_IN_DIALOG if is_fragment else MAX_RESULTS
    found = NOTHING if limited else search(text, limit)
    response = render(
        request,
        "courses/_results.html" if is_fragment else "courses/search.html",
        {
            "text": text,
            "found": found,
            "limited": limited,
            "max_characters": MAX_QUERY_CHARACTERS,
            "page_name": "search",
        },
        status=HTTPStatus.TOO_MANY_REQUESTS if limited else HTTPStatus.OK,
    )
    # A new revision must be found at once; the response is the same for everybody.
    response["Cache-Control"] = "no-cache"
    if limited:
        response["Retry-After"] = str(WINDOW_SECONDS)
    return response
