"""The variables that a source declares outside of functions: the host can set them by name."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from gpu_worker.cuda_cpu.frontend import cleaning

_MARK: Final = re.compile(r"\b__(?:constant|device|managed)__\b")
_LINKAGE: Final = re.compile(r'\bextern\s{0,40}"C"\s{0,40}\Z')
_STRING: Final = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
_TOKEN: Final = re.compile(r"[A-Za-z_]\w*|[^\s\w]")
_MORE: Final = re.compile(r"\s*(?:[*&\s]|\bconst\b)*([A-Za-z_]\w*)\s*(?=[\[;={,])")
_WITH_BRACKETS: Final = frozenset(("alignas", "__align__", "decltype"))
_TYPES: Final = frozenset(("struct", "class", "union", "enum"))
_CLOSING: Final = {"(": ")", "[": "]", "{": "}", "<": ">"}
_LONGEST: Final = 4000
"""How many characters of a declaration are read, including a structure's braces."""
_BEFORE: Final = 400


@dataclass(slots=True)
class VariableText:
    """A variable outside of all functions: the lines that declare it, several under #if."""

    constant: bool
    lines: list[int]


def found(code: str) -> dict[str, VariableText]:
    """Return the variables outside of all functions by name."""
    outside = _outside(code)
    plain = _STRING.sub(lambda match: cleaning.blank(match.group()), code)
    variables: dict[str, VariableText] = {}
    for match in _MARK.finditer(plain):
        before = re.split(r"[;{}]", plain[max(0, match.start() - _BEFORE) : match.start()])[-1]
        if not outside(match.start()) or "template" in before or _MARK.search(before):
            continue
        line = plain.count("\n", 0, match.start()) + 1
        for name, words in _declared(plain, match.end()):
            constant = "__constant__" in (*before.split(), match.group(), *words)
            lines = variables.setdefault(name, VariableText(constant, [])).lines
            if line not in lines:
                lines.append(line)
    return variables


def _outside(code: str) -> Callable[[int], bool]:
    """Return what tells whether a place is in no braces but those of `extern "C"`."""
    places, outside, others = [0], [True], 0
    opened: list[bool] = []
    for match in re.finditer(r"[{}]", code):
        if match.group() == "{":
            head = code[max(0, match.start() - 99) : match.start()]
            opened.append(not _LINKAGE.search(head))
            others += opened[-1]
        elif opened:
            others -= opened.pop()
        places.append(match.start())
        outside.append(not others)
    return lambda at: outside[bisect.bisect_right(places, at) - 1]


def _declared(code: str, at: int) -> Iterator[tuple[str, list[str]]]:
    """Yield the names that a declaration declares, with the words before them."""
    words: list[str] = []
    end = min(len(code), at + _LONGEST)
    while at < end:
        token = _TOKEN.search(code, at, end)
        if not token:
            return
        mark, at = token.group(), token.end()
        if mark in ";={," or (mark == "[" and code[at : at + 1] != "["):
            if mark == "{" and _begins_body(words):
                words.append("{}")
                at = _after(code, at, "{", end)
                continue
            break
        if mark == "operator" or (mark == "(" and (words or [""])[-1] not in _WITH_BRACKETS):
            return
        if mark in "([<":
            at = _after(code, at, mark, end)
        words.append(mark)
    else:
        return
    if not words or not _is_name(words):
        return
    yield words[-1], words
    at = _next(code, token.start(), end)
    while more := _MORE.match(code, at, end):
        yield more[1], words
        at = _next(code, more.end(), end)


def _is_name(words: list[str]) -> bool:
    """Return whether the last word is a variable's name, not a member's or a structure's alone."""
    named = (words[-1][0].isalpha() or words[-1][0] == "_") and words[-2:-1] != [":"]
    return named and ("{}" in words or len(_of_structure(words)) != 1)


def _begins_body(words: list[str]) -> bool:
    """Return whether a brace begins the members of a structure: `struct`, and a name at most."""
    if _TYPES.isdisjoint(words) or "{}" in words:
        return False
    return len(_of_structure(words)) <= 1 or ":" in words


def _of_structure(words: list[str]) -> list[str]:
    """Return the names behind `struct` and its kin."""
    first = next((place for place, word in enumerate(words) if word in _TYPES), len(words))
    names = (word for word in words[first:] if word[0].isalpha() or word[0] == "_")
    return [word for word in names if word not in _WITH_BRACKETS | _TYPES | {"final"}]


def _next(code: str, at: int, end: int) -> int:
    """Return the place after the comma that ends a declarator, `end` where none follows."""
    while token := _TOKEN.search(code, at, end):
        mark, at = token.group(), token.end()
        if mark == ",":
            return at
        if mark in ";)]}" or _MARK.match(mark):
            break
        if mark in "([{":
            at = _after(code, at, mark, end)
    return end


def _after(code: str, at: int, opening: str, end: int) -> int:
    """Return the place after the bracket that closes one that was opened before `at`."""
    depth = 1
    for match in re.compile(rf"[{re.escape(opening + _CLOSING[opening])}]").finditer(code, at, end):
        depth += 1 if match.group() == opening else -1
        if not depth:
            return match.end()
    return end
