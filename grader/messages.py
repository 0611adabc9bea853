"""Make received messages safe to parse and to store."""

from __future__ import annotations

import re
from typing import Any

MAX_DEPTH = 32
# PostgreSQL stores neither NUL nor half a surrogate pair; no text of ours needs either.
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def clean(value: Any, depth: int = 0) -> Any:
    """Return JSON values with unstorable characters replaced by U+FFFD, cut off at `MAX_DEPTH`."""
    if isinstance(value, str):
        return UNSTORABLE.sub("\ufffd", value)
    if depth >= MAX_DEPTH:
        return None
    if isinstance(value, list | tuple):
        return [clean(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {clean(str(key)): clean(item, depth + 1) for key, item in value.items()}
    return value


def address_of(message: object) -> tuple[str, str] | None:
    """Return submission id and lease of a message that may be malformed everywhere else."""
    if not isinstance(message, dict):
        return None
    submission, lease = message.get("submission"), message.get("lease")
    if not isinstance(submission, str) or not isinstance(lease, str):
        return None
    return (clean(submission), clean(lease)) if len(lease) <= 64 else None
