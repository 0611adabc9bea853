"""The one exception to the Content-Security-Policy: the editor's style element, by a nonce."""

from __future__ import annotations

import secrets

from django.http import HttpResponseBase

from courses import csp


def new_nonce() -> str:
    return secrets.token_urlsafe(16)


def allow_style(response: HttpResponseBase, nonce: str) -> None:
    """Allow style elements with this nonce on the page; the rest of the policy stays."""
    csp.allow_style(response, f"'nonce-{nonce}'")
