"""Confusable names: the skeleton algorithm of Unicode's UTS #39, section 4.

`confusables.txt` beside this file is Unicode's own table without the lines of characters that no
name can hold: those that NFKC replaces, and all but letters, digits, marks and `.@+-_`.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_name("confusables.txt")


def skeleton(text: str) -> str:
    """Return the skeleton that all confusable texts share; it is for comparing, not for display."""
    prototypes = _prototypes()
    apart = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFD", "".join(prototypes.get(each, each) for each in apart))


@cache
def _prototypes() -> dict[str, str]:
    """Return the prototype of each confusable character."""
    lines = (line.partition("#")[0] for line in TABLE.read_text("utf-8").splitlines())
    pairs = (line.split(";") for line in lines if ";" in line)
    return {
        chr(int(one, 16)): "".join(chr(int(n, 16)) for n in many.split()) for one, many in pairs
    }
