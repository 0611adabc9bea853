from __future__ import annotations

from typing import Any

from django import template

from learnml.sent import what_was_sent

register = template.Library()


@register.inclusion_tag("_sent.html", takes_context=True)
def give_back(context: Any) -> dict[str, Any]:
    """Show the form sent with this request, with a button that sends it once more."""
    request = context.get("request")
    return {"sent": what_was_sent(request) if request is not None else None}
