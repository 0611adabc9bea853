"""The one exception from the site's policy: the editor's style element, by a nonce."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.http import HttpResponseBase


def new_nonce() -> str:
    return secrets.token_urlsafe(16)


def allow_style(response: HttpResponseBase, nonce: str) -> None:
    """Let the page have style elements that carry this nonce; all else stays as it is."""
    policy = {**settings.SECURE_CSP}
    policy["style-src"] = [*policy["style-src"], f"'nonce-{nonce}'"]
    response["Content-Security-Policy"] = "; ".join(
        f"{directive} {' '.join(sources)}" for directive, sources in policy.items()
    )
