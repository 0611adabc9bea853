r"""The index's words, with their positions in the text.

A word is a run of letters and digits, a TeX command such as `\frac`, or a sign that has a name.
Case, accents, plural and the British -ise are ignored; a Greek letter is its name, however it is
written: `γ`, `\gamma`, `gamma`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


SIGNS = {
    **{"∂": "partial", "∇": "nabla", "∑": "sum", "∏": "prod", "√": "sqrt", "∞": "infty"},
    **{"∈": "in", "⊙": "odot", "≈": "approx", "≤": "leq", "≥": "geq"},
}
# Commands for signs that learners search by name.
_NAMED_COMMANDS = frozenset({"partial", "nabla", "sum", "prod", "sqrt", "infty", "odot"})
_GREEK = word_set(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma "
    "tau upsilon phi chi psi omega"
)
_WORD = re.compile(rf"\\[A-Za-z]+|[^\W_]+|[{''.join(SIGNS)}]")
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_BRITISH = re.compile(r"is(e|ed|es|ing|ation)$")
# Too short to lose their last letter: "bias" may become "bia", since queries do so too.
SHORTEST_PLURAL = 4
STOP_WORDS = word_set(
    "a an and are as at be by can do does for from has how in is it its of on or that the this to "
    "was what why when which with"
)


class Word(NamedTuple):
    """A word as indexed, with its position: `text[start:end]`.

    `whole` is false for a part of a compound.
    """

    word: str
    start: int
    end: int
    whole: bool


def words(text: str) -> Iterator[Word]:
    """Return the words of a text in order, compounds such as RMSNorm followed by their parts."""
    for match in _WORD.finditer(text):
        for place, word in enumerate(forms(match[0])):
            yield Word(word, match.start(), match.end(), whole=place == 0)


@lru_cache(maxsize=20_000)
def forms(token: str) -> tuple[str, ...]:
    """Return the word of a token, and for a compound its parts."""
    whole = normalised(token)
    if not token.isascii() or token.startswith("\\") or token.islower():
        return (whole,)
    if len(parts := _PARTS.findall(token)) < 2:
        return (whole,)
    return (whole, *(normalised(part) for part in parts if len(part) > 1))


def normalised(token: str) -> str:
    """Return one token as it is indexed."""
    if token in SIGNS:
        return SIGNS[token]
    if token.startswith("\\"):
        name = token[1:].lower().removeprefix("var")
        return name if name in _GREEK or name in _NAMED_COMMANDS else token
    plain = "".join(
        letter
        for letter in unicodedata.normalize("NFKD", token)
        if not unicodedata.combining(letter)
    ).casefold()
    if len(plain) == 1 and not plain.isascii():
        return _greek_name(plain)
    if len(plain) >= SHORTEST_PLURAL and plain.endswith("s") and not plain.endswith("ss"):
        plain = plain[:-1]
    return _BRITISH.sub(r"iz\1", plain)


def _greek_name(letter: str) -> str:
    """`γ` is GREEK SMALL LETTER GAMMA; `ϵ` is GREEK LUNATE EPSILON SYMBOL."""
    for part in unicodedata.name(letter, "").lower().split():
        name = {"lamda": "lambda"}.get(part, part)
        if name in _GREEK:
            return name
    return letter
