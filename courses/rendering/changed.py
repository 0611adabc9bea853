r"""`\changed{...}`: marks what a step of a derivation changed in the formula.

KaTeX gets it as a macro for one of our classes (`katex_child.py`), which the style sheet tints and
underlines. It is not a LaTeX command, so it is removed from TeX that people or other programs read.
"""

from __future__ import annotations

import re

MARK = "\\changed"
_MARK = re.compile(r"\\changed(?![A-Za-z@])\s*")


def without_marks(tex: str) -> str:
    r"""Return the TeX without marks: `a + \changed{b}` as `a + b`."""
    if MARK not in tex:
        return tex
    pieces: list[str] = []
    place = 0
    while match := _MARK.search(tex, place):
        pieces.append(tex[place : match.start()])
        start, place = match.end(), _end_of_group(tex, match.end())
        if place > start:
            pieces.append(without_marks(tex[start + 1 : place - 1]))
    return "".join(pieces) + tex[place:]


def _end_of_group(tex: str, start: int) -> int:
    """Return the offset behind the braced group at `start`; `start` itself if there is none."""
    if tex[start : start + 1] != "{":
        return start
    depth, place = 0, start
    while place < len(tex):
        if tex[place] == "\\":
            place += 2
            continue
        depth += {"{": 1, "}": -1}.get(tex[place], 0)
        place += 1
        if depth == 0:
            return place
    return start
