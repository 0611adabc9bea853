"""Characters that Python does not accept in code, grouped by look, and what to write instead."""

from __future__ import annotations

import keyword
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

CharacterKind = Literal[
    "space",
    "invisible",
    "bidi",
    "control",
    "quote",
    "backtick",
    "dash",
    "operator",
    "punctuation",
    "digit",
    "exponent",
    "letter",
    "character",
]

BIDI: Final = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Characters that change the order in which text is shown (Unicode, UAX 9)."""
SUSPECT: Final = re.compile(r"[^\t\n\r\f -_a-~]")
"""Everything but the characters of plain code."""

_INVISIBLE_LETTERS: Final = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"
_JOINERS: Final = "\u200c\u200d"
_SINGLE_QUOTES: Final = (
    "\u2018\u2019\u201b\u2032\u2035\u02b9\u02bb\u02bc\u02bd\u00b4\u2039\u203a\uff07"
)
_DOUBLE_QUOTES: Final = (
    "\u201c\u201d\u201e\u201f\u2033\u2036\u02ba\u00ab\u00bb\uff02\u300c\u300d\u300e\u300f\u301d\u301e"
    "\u301f\u275d\u275e"
)
_OPERATORS: Final = {
    **dict.fromkeys("\u00d7\u2217\u22c5\u00b7\u2022\u2219", "*"),
    **dict.fromkeys("\u00f7\u2215\u2044", "/"),
    **{"\u2264": "<=", "\u2265": ">=", "\u2260": "!=", "\u2192": "->", "\u2190": "="},
    **{"\u2026": "...", "\u2223": "|", "\u02c6": "^", "\u223c": "~", "\u02dc": "~", "\u201a": ","},
    **{"\u2227": "and", "\u2228": "or", "\u00ac": "not", "\u2208": "in", "\u221a": "np.sqrt"},
    **{"\u2211": "np.sum", "\u221e": "np.inf", "\u2236": ":", "\ua789": ":", "\u2254": ":="},
}
_PUNCTUATION: Final = {
    **{"\u3001": ",", "\u3002": ".", "\u060c": ",", "\u061b": ";", "\u066b": ".", "\u066c": "_"},
    **{"\u3010": "[", "\u3011": "]", "\u3014": "(", "\u3015": ")", "\u3008": "<", "\u3009": ">"},
    **{"\u27e8": "<", "\u27e9": ">", "\u2768": "(", "\u2769": ")", "\u2774": "{", "\u2775": "}"},
    **{"\u066a": "%", "\u037e": ";"},
}


@dataclass(frozen=True, slots=True)
class Foreign:
    """A character that cannot stand in code: its kind, and what to write instead, if one thing."""

    kind: CharacterKind
    instead: str = ""


@lru_cache(maxsize=4096)
def foreign(character: str) -> Foreign | None:
    """Return what a character is that does not belong into code, None for one that may."""
    if character == "`":
        return Foreign("backtick")
    category = unicodedata.category(character)
    if character in BIDI:
        return Foreign("bidi")
    if category in ("Zs", "Zl", "Zp") or character in "\x0b\x1c\x1d\x1e\x1f\x85":
        # An ideographic space is as wide as two.
        return Foreign("space", "  " if character == "\u3000" else " ")
    if is_invisible(character):
        return Foreign("invisible")
    if category == "Cc":
        return Foreign("control")
    if character in _SINGLE_QUOTES:
        return Foreign("quote", "'")
    if character in _DOUBLE_QUOTES:
        return Foreign("quote", '"')
    if category == "Pd" or character == "\u2212":
        return Foreign("dash", "-")
    if character in _OPERATORS:
        return Foreign("operator", _OPERATORS[character])
    return _of_another_script(character, category)


def _of_another_script(character: str, category: str) -> Foreign | None:
    plain = unicodedata.normalize("NFKC", character)
    if character in _PUNCTUATION:
        return Foreign("punctuation", _PUNCTUATION[character])
    if category == "Nd":
        return Foreign("digit", str(unicodedata.decimal(character)))
    if category == "No" and plain.isdecimal():
        raised = "SUPERSCRIPT" in unicodedata.name(character, "")
        return Foreign("exponent", f"**{plain}") if raised else Foreign("digit", plain)
    if f"a{character}".isidentifier():
        return Foreign("letter", plain) if plain.isascii() and plain != character else None
    if plain.isascii() and plain.strip():
        return Foreign("punctuation", plain)
    return Foreign("character")


def is_invisible(character: str) -> bool:
    """Whether a character has no shape of its own and is neither a space nor a control."""
    return (
        unicodedata.category(character) == "Cf"
        or character in _INVISIBLE_LETTERS
        or "\ufe00" <= character <= "\ufe0f"
        or "\U000e0100" <= character <= "\U000e01ef"
    )


def is_hidden(character: str, before: str) -> bool:
    """Whether a reader of a text cannot see that a character is there, and should.

    That is every bidirectional control, space of another kind and character without a shape;
    joiners and variations, which belong to letters and pictures of many scripts, only behind plain
    text.
    """
    if character in _JOINERS or "\ufe00" <= character <= "\ufe0f":
        return not before or before.isascii()
    found = foreign(character)
    return found is not None and found.kind in ("bidi", "invisible", "space", "control")


def is_keyword_in_disguise(word: str) -> bool:
    """Whether a word looks like a keyword that Python does not take for it, for its letters."""
    plain = unicodedata.normalize("NFKC", word)
    return plain != word and keyword.iskeyword(plain)
