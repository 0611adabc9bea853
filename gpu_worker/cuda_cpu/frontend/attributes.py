"""Attributes and `_Pragma` in a source: as NVRTC reads them, and none that only g++ knows.

NVRTC accepts any attribute, honours those that it knows, and warns of the others. With g++ an
attribute can do what no kernel may, so none reaches it as written: those that affect the layout are
replaced by macros of the prelude, and the others, which mean nothing on a processor, by spaces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from gpu_worker.cuda_cpu.errors import refusal
from gpu_worker.cupy_cpu.executor.defects import Defect

PACKED: Final = "LEARNML_PACKED"
"""The prelude's macro for `packed`."""
_BEGINS: Final = re.compile(
    r"(?P<gnu>\b__attribute(?:__)?\b)|(?P<pragma>\b_Pragma\b)|(?P<cuda>\b__align__\b)"
    r"|(?P<standard>\[\s{0,20}\[)"
)
_BRACKET: Final = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[][(){}]')
_KEPT: Final = re.compile(r"[^\n\\]|\\(?!\s*\n)")
"""Everything but newlines and line splices of a directive."""
_LONGEST: Final = 2000
_STANDARD: Final = frozenset(
    ("nodiscard", "maybe_unused", "deprecated", "noreturn", "fallthrough", "likely", "unlikely")
    + ("carries_dependency",)
)
_OF_CUDA: Final = frozenset(
    ("device", "host", "global", "shared", "constant", "managed", "grid_constant", "launch_bounds")
    + ("maxnreg", "cluster_dims", "block_size")
)
_REFUSED: Final = {
    **dict.fromkeys(("alias", "ifunc", "weakref"), "no function of a kernel stands for another"),
    "cleanup": "nothing runs at the end of a variable here",
    "mode": "name the type itself",
}
_AFTER_A_BODY: Final = re.compile(r"\}\s*\Z")


def rewritten(text: str, first: int = 1) -> str:
    """Return a text in which no attribute and no `_Pragma` is left that g++ would read.

    `first` is the line of the source that the text begins at.

    Raises:
        CompileError: one does not end, or would change what a kernel is.
    """
    pieces, last = [], 0
    for start, end, put in _found(text, first):
        taken = text[start:end]
        pieces += [text[last:start], put, _KEPT.sub(" ", taken[len(put) :])]
        # The replacement may be longer, but line numbers stay the same.
        pieces.append("\n" * (taken.count("\n") - taken[len(put) :].count("\n")))
        last = end
    return "".join(pieces) + text[last:] if pieces else text


def _found(text: str, first: int) -> Iterator[tuple[int, int, str]]:
    """Yield the places of attributes, and what to put there."""
    at = 0
    while match := _BEGINS.search(text, at):
        kind = match.lastgroup or ""
        line = text.count("\n", 0, match.start()) + first
        opening = match.start() if kind == "standard" else _opening(text, match)
        end = _closing(text, opening) if opening >= 0 else 0
        if not end:
            if kind in ("cuda", "pragma"):
                # A macro's name on its own, or a mistake that the compiler reports.
                at = match.end()
                continue
            raise refusal(
                f"The attribute that begins with {text[match.start() : match.start() + 16]!r} does "
                "not end, or has no brackets.",
                line,
                Defect.COMPILE_ERROR,
            )
        inside = text[opening + 1 : end - 1]
        behind = bool(_AFTER_A_BODY.search(text[max(0, match.start() - 200) : match.start()]))
        put = _WRITTEN[kind](inside, line)
        if kind == "cuda" and not behind:
            at = match.end()
            continue
        # After a structure's members, NVRTC ignores attributes that g++ would honour.
        yield match.start(), end, "" if behind else put
        at = end


def _opening(text: str, match: re.Match[str]) -> int:
    bracket = re.compile(r"\s{0,200}\(").match(text, match.end())
    return bracket.end() - 1 if bracket else -1


def _closing(text: str, opening: int) -> int:
    """Return the place behind the bracket that closes one, 0 where none does."""
    depth = 0
    for match in _BRACKET.finditer(text, opening, opening + _LONGEST):
        depth += (match.group() in "([{") - (match.group() in ")]}")
        if depth == 0:
            return match.end()
    return 0


def _items(inside: str) -> list[tuple[str, str]]:
    """Return the attributes of a list: each by its name and its arguments."""
    parts, depth, start = [], 0, 0
    for match in re.finditer(r'"(?:\\.|[^"\\\n])*"|[][(){},]', inside):
        mark = match.group()
        depth += (mark in "([{") - (mark in ")]}")
        if mark == "," and depth == 0:
            parts.append(inside[start : match.start()])
            start = match.end()
    named = []
    for part in (*parts, inside[start:]):
        name, bracket, rest = part.strip().partition("(")
        named.append((name.strip(), bracket and rest[:-1].strip()))
    return [item for item in named if item[0]]


def _gnu(inside: str, line: int) -> str:
    inside = inside.strip()
    if not (inside.startswith("(") and inside.endswith(")")):
        raise refusal("Write __attribute__((...)) with two brackets.", line, Defect.COMPILE_ERROR)
    words = []
    for name, arguments in _items(inside[1:-1]):
        plain = name.removeprefix("__").removesuffix("__")
        if plain in _OF_CUDA:
            raise refusal(f"Write __{plain}__ in place of the attribute {name}.", line)
        if plain in _REFUSED:
            raise refusal(f"The attribute {name} is not taken here: {_REFUSED[plain]}.", line)
        if plain == "aligned":
            words.append(f"__align__({arguments or 16})")
        elif plain == "packed":
            words.append(PACKED)
    return " ".join(words)


def _standard(inside: str, line: int) -> str:
    listed = inside.strip()[1:-1]
    kept = [
        f"{name}({arguments})" if arguments else name
        for name, arguments in _items(listed)
        if name in _STANDARD
    ]
    return f"[[{', '.join(kept)}]]" if kept else ""


def _pragma(inside: str, line: int) -> str:
    if re.match(r'\s*"\s*pack\b', inside):
        raise refusal("Write #pragma pack in a line of its own.", line)
    return ""


def _aligned(inside: str, line: int) -> str:
    return f"__align__({inside})"


_WRITTEN: Final[dict[str, Callable[[str, int], str]]] = {
    "gnu": _gnu, "standard": _standard, "pragma": _pragma, "cuda": _aligned,
}  # fmt: skip
