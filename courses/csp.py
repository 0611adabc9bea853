"""Exceptions to the Content-Security-Policy: a style element, allowed by its hash or a nonce."""

from __future__ import annotations

import base64
import hashlib

from django.conf import settings
from django.http import HttpResponseBase


def hash_source(text: str) -> str:
    """Return the source expression that allows the element with exactly this text."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def allow_style(response: HttpResponseBase, source: str) -> None:
    """Allow the style elements that `source` names on this page; the rest of the policy stays."""
    policy = {**settings.SECURE_CSP}
    policy["style-src"] = [*policy["style-src"], source]
    response["Content-Security-Policy"] = "; ".join(
        f"{directive} {' '.join(sources)}" for directive, sources in policy.items()
    )
