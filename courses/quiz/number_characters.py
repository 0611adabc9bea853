"""Normalise the characters that people type or paste in numbers to those of `numbers`' grammar.

Each character has one meaning or is refused by name; none is guessed at.
"""

from __future__ import annotations

import re
import unicodedata

_SIGNS = {
    "\u2212": "-",  # minus sign
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\ufe58\ufe63", "-"),  # typed for a minus
    "\u00d7": "*",
    "\u00b7": "*",
    "\u22c5": "*",
    "\u2217": "*",
    "\u2062": "*",  # invisible times
    "\u00f7": "/",
    "\u2044": "/",
    "\u2215": "/",
    "\u03c0": "pi",
    "\u066b": ".",  # Arabic decimal separator
    "\u221a": "√",
}
# Marks between groups of three digits that mark nothing else: the Arabic one, and apostrophes.
_GROUPED = re.compile("(?<![0-9.,])[1-9][0-9]{0,2}(?:[\u066c'\u2019\u02bc][0-9]{3})+(?![0-9])")
_SOFT_HYPHEN = re.compile("(?<=[0-9])\u00ad+(?=[0-9])")
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾", "0123456789+-()", strict=True))
_LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
_RAISED_RUN = re.compile(f"[{''.join(_RAISED)}]+")
_BUILT_FRACTION = re.compile(rf"([⁰¹²³⁴⁵⁶⁷⁸⁹]+)[\u2044/]([{''.join(_LOWERED)}]+)")
# Marks fractions until it is known whether a whole number precedes them.
_BEGIN, _END = "\x02", "\x03"
_FRACTION = re.compile(rf"(?P<whole>(?<![0-9.,])[0-9]+ ?)?{_BEGIN}(?P<value>[0-9]+/[0-9]+){_END}")
_AFTER_A_VALUE = re.compile(rf"[0-9.,a-z){_END}] *$", re.IGNORECASE)
# The letter x as a times sign, unless it could be part of 0x.
_TIMES_TEN = re.compile(r"(?<=[0-9.])(?<!^0)(?<![^0-9.]0) *[xX\u0445\u0425] *(?=10 *(?:\^|\*\*))")


class CharacterError(ValueError):
    """A character without a single meaning in a number; the message names it."""


def named(character: str) -> str:
    """Return a character with its code point and name: “²” (U+00B2, superscript two)."""
    name = unicodedata.name(character, "a control character")
    code = f"U+{ord(character):04X}, {name.lower()}"
    return f"“{character}” ({code})" if character.isprintable() else code


def is_nothing(text: str) -> bool:
    """Return whether a text has no visible characters."""
    return all(_is_invisible(each, unicodedata.category(each)) or each.isspace() for each in text)


def plain_characters(text: str) -> str:
    """Return the text in plain characters: digits, signs, brackets, spaces, and unknown ones as
    they are.

    Invisible characters are dropped; every space becomes a plain one; digits of all scripts become
    ASCII; superscripts become exponents, and fraction characters go in brackets.

    Raises:
        CharacterError: a control character, or a fraction or an exponent where it has no single
            meaning.
    """
    text = "".join(map(_plain, _SOFT_HYPHEN.sub("", text)))
    text = _BUILT_FRACTION.sub(_built_fraction, text)
    text = _FRACTION.sub(_bracketed, text)
    text = _RAISED_RUN.sub(_exponent, text)
    text = _GROUPED.sub(lambda match: re.sub("[^0-9]", "", match[0]), text)
    return _TIMES_TEN.sub("*", text)


def _plain(character: str) -> str:
    category = unicodedata.category(character)
    if character in _SIGNS:
        return _SIGNS[character]
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category in ("Zs", "Zl", "Zp") or character in "\t\n\r":
        return " "
    if category == "Cc":
        raise CharacterError(f"{named(character)} is no part of a number")
    if _is_invisible(character, category):
        return ""
    if "VULGAR FRACTION" in unicodedata.name(character, ""):
        fraction = unicodedata.normalize("NFKC", character).replace("\u2044", "/")
        return f"{_BEGIN}{fraction}{_END}"
    if _is_styled(character):
        return _SIGNS.get(styled := unicodedata.normalize("NFKC", character), styled)
    return character


def _is_invisible(character: str, category: str) -> bool:
    """Return whether a character has neither a shape nor a meaning of its own.

    A soft hyphen may be visible, looking like a minus; a separator (U+2063) and a plus (U+2064)
    mean something.
    """
    if character in "\u00ad\u2063\u2064":
        return False
    return category == "Cf" or character in "\u034f\u115f\u1160\u3164\uffa0" or _varies(character)


def _varies(character: str) -> bool:
    return "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"


def _is_styled(character: str) -> bool:
    """Return whether it is a plain letter or sign in another style: full width, small,
    mathematical.
    """
    return (
        "\uff01" <= character <= "\uff5e"
        or "\ufe50" <= character <= "\ufe6b"
        or "\U0001d400" <= character <= "\U0001d7ff"
        or character == "\u212f"
    )


def _built_fraction(match: re.Match[str]) -> str:
    """Read ¹⁄₂, a fraction of superscript and subscript digits, as one number."""
    above = "".join(_RAISED[digit] for digit in match[1])
    return f"{_BEGIN}{above}/{''.join(_LOWERED[digit] for digit in match[2])}{_END}"


def _bracketed(match: re.Match[str]) -> str:
    """Write ½ as (1/2) and 1½ as (1+1/2); after any other value it is ambiguous."""
    before = match.string[: match.start()]
    if _AFTER_A_VALUE.search(before):
        raise CharacterError(
            f"the fraction {match['value']} stands right after another value; write a sign between"
        )
    if match["whole"]:
        return f"({match['whole'].strip()}+{match['value']})"
    return f"({match['value']})"


def _exponent(match: re.Match[str]) -> str:
    before = match.string[: match.start()].rstrip()
    plain = "".join(_RAISED[character] for character in match[0])
    if before.endswith(("^", "**")):
        return f"({plain})"
    if not _AFTER_A_VALUE.search(before):
        raise CharacterError(f"{named(match[0][0])} has no number before it")
    if match.string[match.end() :].lstrip().startswith("√"):
        raise CharacterError(f"{named(match[0][0])} may belong to the number or to the root")
    return f"**({plain})"
