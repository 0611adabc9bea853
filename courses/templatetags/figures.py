"""Insert figures into a chapter's page, at their positions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

register = template.Library()
_HEADING = re.compile(r'<h[3-6] id="([^"]+)"')


@register.simple_tag
def figures_at(page: Mapping[str, Any], kind: str, key: str) -> SafeString:
    """Render the figures that follow a part, formula or step of the page."""
    return _figures(page, f"{kind}-{key}")


@register.filter
def with_figures(html: str, page: Mapping[str, Any]) -> SafeString:
    """Insert the figures under headings of a text, each before the next heading."""
    pieces: list[str] = []
    begin, heading = 0, None
    for match in _HEADING.finditer(html):
        pieces += [html[begin : match.start()], _under(page, heading)]
        begin, heading = match.start(), match[1]
    return mark_safe("".join([*pieces, html[begin:], _under(page, heading)]))  # noqa: S308  cleaned


def _under(page: Mapping[str, Any], heading: str | None) -> str:
    return _figures(page, f"heading-{heading}") if heading else ""


def _figures(page: Mapping[str, Any], place: str) -> SafeString:
    # Revisions older than figures have no list of them.
    return mark_safe(  # noqa: S308  a template's
        "".join(
            render_to_string("courses/_figure.html", {"figure": figure})
            for figure in page.get("figures", ())
            if figure["place"] == place
        )
    )
