"""Filters and tags of the reading templates."""

from __future__ import annotations

import re
from functools import lru_cache

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from courses.search.markup import plain_text
from courses.subpath import below_site

register = template.Library()
_HEADING = re.compile(r'<h([3-6]) id="([^"]+)">(.*?)</h\1>', re.DOTALL)


register.filter("below_site", below_site)


@register.filter
def linked_headings(html: str) -> SafeString:
    """Give each heading of a rendered text a link to itself, beside it and not in its name."""
    return mark_safe(_HEADING.sub(_linked, html))  # noqa: S308  rendered and cleaned before


@register.filter
@lru_cache(maxsize=4096)
def words(html: str) -> str:
    """Return rendered HTML as words, formulas included: browsers leave formulas out of accessible
    names.

    Cached, because every page repeats the same few hundred pieces.
    """
    return plain_text(html)


def _linked(match: re.Match[str]) -> str:
    level, place, inner = match.groups()
    anchor = render_to_string("courses/_anchor.html", {"id": place, "label": plain_text(inner)})
    return f'<div class="heading is-h{level}">{match[0]}{anchor}</div>'
