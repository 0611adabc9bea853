"""Refuses paragraphs that would keep the Markdown library busy for minutes.

For each unmatched `[`, `<` and `$` it searches to the end of the paragraph, which is quadratic: a
second for 2,000 of them, two minutes for 25,000.
"""

from __future__ import annotations

import re
from typing import Final

from .markdown_lint import LintMessage

SIGNS_PER_PARAGRAPH: Final = 1_000
"""Fifty times what the longest paragraph of mathematics has; a fifth of a second."""
SEARCHED_FOR: Final = "[<$"
_FENCE: Final = re.compile(r"[ \t>]*(`{3,}|~{3,})")


def too_dense(text: str) -> LintMessage | None:
    """Return the message for the first paragraph with too many such characters, or None."""
    counts = dict.fromkeys(SEARCHED_FOR, 0)
    offset = begin = 0
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        if fence or mark or not line.strip():
            counts = dict.fromkeys(SEARCHED_FOR, 0)
            begin = offset + len(line)
        else:
            for sign in SEARCHED_FOR:
                counts[sign] += line.count(sign)
                if counts[sign] > SIGNS_PER_PARAGRAPH:
                    return LintMessage(begin, _message(sign))
        offset += len(line)
    return None


def _message(sign: str) -> str:
    return (
        f"This paragraph has more than {SIGNS_PER_PARAGRAPH:,} “{sign}”. Divide it by empty lines, "
        "or put data into a fenced block of code."
    )
