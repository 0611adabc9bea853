"""Names of characters that do not belong in source code."""

from __future__ import annotations

import unicodedata


def named(character: str) -> str:
    """Return a character's name and number: no-break space (U+00A0)."""
    name = unicodedata.name(character, "control character").lower()
    return f"{name} (U+{ord(character):04X})"
