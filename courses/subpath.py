"""Support for a site below a path of its host, such as https://example.org/learn/.

Generated addresses include the path. In texts, authors write addresses from the site's root, such
as `/exercises/rmsnorm/`, wherever the site will be; they are rewritten when a text is shown.
"""

from __future__ import annotations

import re
from typing import Any

from django.conf import settings

_ROOT_ADDRESS = re.compile(r'(<(?:a|img)\s(?:[^>]*?\s)?(?:href|src)=")/(?!/)')


def below_site(html: str) -> str:
    """Return a rendered text with its root-relative addresses moved below the site's path."""
    if not settings.FORCE_SCRIPT_NAME:
        return html
    return _ROOT_ADDRESS.sub(rf"\g<1>{settings.FORCE_SCRIPT_NAME}/", html)


def all_below_site(value: Any) -> Any:
    """Apply `below_site` to each text in nested mappings and lists."""
    if not settings.FORCE_SCRIPT_NAME:
        return value
    if isinstance(value, str):
        return below_site(value)
    if isinstance(value, dict):
        return {key: all_below_site(one) for key, one in value.items()}
    return [all_below_site(one) for one in value] if isinstance(value, list) else value
