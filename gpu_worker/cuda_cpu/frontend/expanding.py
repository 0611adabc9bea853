"""Expands macros that declare kernels, so that the kernels are found.

The compiler gets the source itself and has its own preprocessor. Here only macros that contain a
word of a kernel's declaration are expanded, as far as is needed to read such declarations:

    #define KERNEL(name) extern "C" __global__ void name
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gpu_worker.cuda_cpu.frontend.cleaning import CleanSource

_DEFINED: Final = re.compile(r"([A-Za-z_]\w*)(\([^)]*\))?(.*)", re.DOTALL)
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_BRACKET: Final = re.compile(r"[][(){},]")
_PASTED: Final = re.compile(r"\s*##\s*")
_QUOTED: Final = re.compile(r"(?<!#)#(?!#)\s*[A-Za-z_]\w*")
_DECLARING: Final = frozenset(("__global__", "extern", "__launch_bounds__"))
_ROUNDS: Final = 8
"""The maximum nesting depth of macros."""
_LONGEST: Final = 128 * 1024
"""Text that would grow beyond this is not expanded."""
_MOST_USES: Final = 128
_LONGEST_USE: Final = 2000
"""Longer arguments do not belong to a kernel's declaration."""


@dataclass(frozen=True, slots=True)
class _Macro:
    name: str
    line: int
    parameters: tuple[str, ...] | None
    """None for a macro that takes none, and is used without brackets."""
    body: str


def expanded(source: CleanSource) -> str:
    """Return the code with the uses of such macros written out; no line is moved."""
    macros = _declaring(source)
    code = source.code
    for _ in range(_ROUNDS if macros else 0):
        longer = _once(code, macros)
        if longer == code or len(longer) > _LONGEST:
            break
        code = longer
    return code


def _declaring(source: CleanSource) -> dict[str, list[_Macro]]:
    found: list[_Macro] = []
    for directive in source.directives:
        match = _DEFINED.match(directive.rest) if directive.name == "define" else None
        if match:
            names = None
            if match[2]:
                names = tuple(word.strip() for word in match[2][1:-1].split(","))
            found.append(_Macro(match[1], directive.line, names, match[3].strip()))
    words = set(_DECLARING)
    for _ in range(_ROUNDS):
        words |= {macro.name for macro in found if words.intersection(_WORD.findall(macro.body))}
    by_name: dict[str, list[_Macro]] = {}
    for macro in found:
        if macro.name in words - _DECLARING:
            by_name.setdefault(macro.name, []).append(macro)
    return by_name


def _once(code: str, macros: dict[str, list[_Macro]]) -> str:
    pieces, last, uses = [], 0, 0
    for match in _WORD.finditer(code):
        if match.start() < last or match.group() not in macros or uses == _MOST_USES:
            continue
        uses += 1
        line = code.count("\n", 0, match.start()) + 1
        defined = macros[match.group()]
        place = bisect.bisect_left(defined, line, key=lambda macro: macro.line)
        if not place:
            continue
        text, end = _use(defined[place - 1], code, match.end())
        newlines = "\n" * code.count("\n", match.start(), end)
        pieces += [code[last : match.start()], text, newlines]
        last = end
    return "".join(pieces) + code[last:]


def _use(macro: _Macro, code: str, at: int) -> tuple[str, int]:
    """Return what a use stands for, and where it ends; the name itself if it is no use."""
    if macro.parameters is None:
        return f" {macro.body} ", at
    opening = re.compile(r"\s*\(").match(code, at)
    if not opening:
        return macro.name, at
    values, end = _arguments(code, opening.end())
    return f" {_body(macro.parameters, macro.body, values)} ", end


def _arguments(code: str, at: int) -> tuple[list[str], int]:
    """Return the arguments up to the closing bracket, and the place behind it."""
    values, depth, start = [], 0, at
    for match in _BRACKET.finditer(code, at, at + _LONGEST_USE):
        place, mark = match.start(), match.group()
        depth += (mark in "([{") - (mark in ")]}")
        if depth < 0 or (mark == "," and depth == 0):
            values.append(" ".join(code[start:place].split()))
            start = place + 1
        if depth < 0:
            return values, start
    return [], at


def _body(names: Sequence[str], body: str, values: Sequence[str]) -> str:
    by_name = dict(zip(names, values, strict=False))
    if names and names[-1] == "...":
        by_name["__VA_ARGS__"] = ", ".join(values[len(names) - 1 :])
    plain = _QUOTED.sub('""', body)
    return _PASTED.sub("", _WORD.sub(lambda word: by_name.get(word[0], word[0]), plain))
