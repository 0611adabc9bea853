"""The one exception from the site's policy: the editor's style element, by a nonce."""

from __future__ import annotations

import secrets

from django.http import HttpResponseBase

from courses import csp


def new_nonce() -> str:
    return secrets.token_urlsafe(16)


def allow_style(response: HttpResponseBase, nonce: str) -> None:
    """Let the page have style elements that carry this nonce; all else stays as it is."""
    csp.allow_style(response, f"'nonce-{nonce}'")
