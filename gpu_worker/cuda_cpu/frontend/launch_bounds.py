"""Launch bounds of kernels, turned into C++ constants that hold them for each instance.

The prelude's macro `__launch_bounds__` is empty: an attribute could not keep the number. So a
constant with the same template parameters is declared beside the kernel, and read where the kernel
is listed. Where the text does not show that the expression is the same, the bounds are ignored.
"""

from __future__ import annotations

import re
from typing import Final

_PREFIX: Final = "learnml_bound_"
_BEFORE: Final = re.compile(r"__launch_bounds__\s*\(")
_SPECIFIER: Final = re.compile(r'\b(?:static|inline|extern|void)\b|"C"')
_BRACE: Final = re.compile("[{}]")
_EXTERN_C: Final = re.compile(r'\bextern\s*"C"\s*\{')


def declared(code: str, at: int, before: str, limits: str, name: str) -> str:
    """Return the declaration for a kernel, "" where there are no bounds, or none to be told.

    `code` is the source without comments and directives, `at` the place of `__global__`, `before`
    the statement up to there; `limits` are the arguments of bounds that come after it, `name` is
    the kernel's.
    """
    ahead = _BEFORE.search(before)
    if not limits and ahead:
        limits = before[ahead.end() : _matching(before, ahead.end() - 1)]
        before = before[: ahead.start()] + before[_matching(before, ahead.end() - 1) + 1 :]
    threads = _first(limits).strip()
    if not threads or not _outside_of_all(code, at):
        return ""
    head = _template_head(before)
    if head is None:
        return ""
    if not head:
        return f"constexpr long long {_PREFIX}{name} = ({threads});"
    return f"{head} struct {_PREFIX}{name} {{ static constexpr long long threads = ({threads}); }};"


def value(name: str, expression: str) -> str:
    """Return the constant for one name expression of a kernel that has a declaration."""
    arguments = expression.partition("<")[1:]
    return f"{_PREFIX}{name}{''.join(arguments)}{'::threads' if arguments[0] else ''}"


def _template_head(before: str) -> str | None:
    """Return `template <...>`, "" for a kernel that is not a template; None if not understood."""
    text = " ".join(before.split())
    if "template" not in text:
        return "" if not _SPECIFIER.sub("", text).strip() else None
    start = text.index("template")
    depth = round_depth = 0
    for place in range(start, len(text)):
        round_depth += (text[place] == "(") - (text[place] == ")")
        if not round_depth:
            depth += (text[place] == "<") - (text[place] == ">")
        if text[place] == ">" and depth == 0 and not round_depth:
            rest = text[:start] + text[place + 1 :]
            return None if _SPECIFIER.sub("", rest).strip() else text[start : place + 1]
    return None


def _first(arguments: str) -> str:
    """Return the text up to the first comma that is in no brackets."""
    depth = 0
    for place, character in enumerate(arguments):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            return "" if "<" in arguments[:place] else arguments[:place]
    return arguments


def _matching(text: str, opening: int) -> int:
    depth = 0
    for place in range(opening, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0:
            return place
    return len(text)


def _outside_of_all(code: str, at: int) -> bool:
    """True in no braces but those of `extern "C"`."""
    of_language = {match.end() - 1 for match in _EXTERN_C.finditer(code, 0, at)}
    opened: list[int] = []
    for match in _BRACE.finditer(code, 0, at):
        if match.group() == "{":
            opened.append(match.start())
        elif opened:
            opened.pop()
    return of_language.issuperset(opened)
