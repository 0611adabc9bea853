"""Where a formula or a stray dollar sign of the rendered text stands in its Markdown source."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from itertools import islice

_FENCE = re.compile(
    r"^[ \t>]*(?P<fence>`{3,}|~{3,})[^\n]*\n(?:.*?\n)??[ \t>]*(?P=fence)[ \t]*$", re.M | re.S
)
_CODE_SPAN = re.compile(
    r"(?<![\\`])(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).)+?(?<!`)(?P=ticks)(?!`)", re.S
)
# A formula over several lines loses the indentation and the quote marks at the start of each line.
_BETWEEN_WORDS = r"[ \t]*(?:\n[ \t>]*|[ \t]+)"


class MarkdownSource:
    """A Markdown text and what is known about places in it."""

    def __init__(self, text: str) -> None:
        self.text = text

    @functools.cached_property
    def _code(self) -> list[tuple[int, int]]:
        """Where code stands; asked for only once there is a mistake to be placed."""
        spans = [match.span() for match in _FENCE.finditer(self.text)]
        return spans + [match.span() for match in _CODE_SPAN.finditer(self.text)]

    def formula_offset(self, tex: str, display: bool, occurrence: int, offset_in_tex: int) -> int:
        """The offset of a character of the `occurrence`-th (from 0) formula with this TeX.

        The same TeX gives the same error, so it does not matter in which order Markdown met two
        equal formulas. Falls back to the best place there is: the start of the TeX, of the text.
        """
        words = tex.split()
        if not words:
            return max(0, self.text.find("$"))
        starts = self._formula_starts(words, display)
        start = next(islice(starts, occurrence, None), None)
        if start is None:
            start = next(self._formula_starts(words, display), None)
        if start is None:
            return max(0, self.text.find(words[0]))
        return self._advance(start, words, tex, offset_in_tex)

    def stray_offset(self, sign: str, following: str, used: set[int]) -> int:
        """The offset of a `sign` that no formula used, followed by `following`; 0 if not found.

        `used` holds the offsets already reported; the one found is added.
        """
        for match in re.finditer(rf"(?<!\\){re.escape(sign + following)}", self.text):
            if match.start() not in used and not self._in_code(match.start()):
                used.add(match.start())
                return match.start()
        return max(0, self.text.find(sign + following))

    def _formula_starts(self, words: list[str], display: bool) -> Iterator[int]:
        body = _BETWEEN_WORDS.join(map(re.escape, words))
        if display:
            pattern = rf"(?:\$\$|\\\[)[\s>]*(?P<tex>{body})[\s>]*(?:\$\$|\\\])"
            if words[0].startswith("\\begin"):
                pattern += rf"|^[ \t>]*(?P<env>{body})[ \t]*$"
        else:
            pattern = rf"(?<![\\$])\$(?P<tex>{body})\$|\\\(\s*(?P<env>{body})\s*\\\)"
        for match in re.finditer(pattern, self.text, re.M):
            group = "tex" if match.group("tex") is not None else "env"
            if not self._in_code(match.start()):
                yield match.start(group)

    def _advance(self, start: int, words: list[str], tex: str, offset_in_tex: int) -> int:
        """Walk TeX and source word by word: white space between words may differ."""
        in_tex, in_source = 0, start
        for word in words:
            in_tex = tex.index(word, in_tex)
            in_source = self.text.index(word, in_source)
            if offset_in_tex <= in_tex + len(word):
                return in_source + max(0, offset_in_tex - in_tex)
            in_tex += len(word)
            in_source += len(word)
        return in_source

    def _in_code(self, offset: int) -> bool:
        return any(start <= offset < end for start, end in self._code)
