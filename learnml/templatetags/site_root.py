"""The address of the site's first page, for pages that must work when nothing else does."""

from __future__ import annotations

from django import template
from django.urls import get_script_prefix

register = template.Library()


@register.simple_tag
def site_root() -> str:
    return get_script_prefix()
