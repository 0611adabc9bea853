"""Pragmas: NVRTC accepts any, and ignores those that it does not know.

On a processor only `pack` has a meaning, the layout of structures; loops are unrolled as the
compiler sees fit.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from typing import Final

from gpu_worker.cuda_cpu.errors import refusal
from gpu_worker.cuda_cpu.frontend.cleaning import CleanSource, Directive
from gpu_worker.cupy_cpu.executor.defects import Defect

_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_ARGUMENT: Final = re.compile(r"unroll\b\s*(.*)\Z", re.DOTALL)
_FRACTION: Final = re.compile(r"(?<![\w.])(?:\d+\.\d*|\.\d+)")
_PACK: Final = re.compile(
    r"pack\s*\(\s*(?P<what>|(?P<alone>\d+)|show|(?P<stack>push|pop)(?:\s*,\s*(?P<name>[A-Za-z_]\w*))?"
    r"(?:\s*,\s*(?P<size>\d+))?)\s*\)\s*\Z",
    re.ASCII,
)
_SIZES: Final = frozenset(("1", "2", "4", "8", "16"))
_REFUSED: Final = frozenset(
    ("define_type_info", "nv_mangled_name", "instantiate", "can_instantiate", "do_not_instantiate")
)


def check(source: CleanSource, before: Sequence[str] = ()) -> None:
    """Refuse pragmas that NVRTC refuses. `before` is what options put before the first line.

    Raises:
        CompileError: with the line and the reason.
    """
    pushed = 0
    others = (item.rest for item in source.directives if item.name != "pragma")
    declared = frozenset(_WORD.findall("\n".join((source.code, *others, *before))))
    for directive in source.directives:
        words = _WORD.match(directive.rest) if directive.name == "pragma" else None
        kind = words[0] if words else ""
        if kind == "unroll":
            _check_unroll(directive, declared)
        elif kind == "pack":
            pushed += _pack(directive, pushed)
        elif kind in _REFUSED:
            raise refusal(f"#pragma {kind} is not taken here.", directive.line)


def _check_unroll(directive: Directive, declared: Container[str]) -> None:
    """The unroll count is a constant; a name that the source does not declare is none."""
    argument = _ARGUMENT.match(directive.rest)
    text = argument[1] if argument else ""
    if _FRACTION.search(text):
        raise _wrong(directive, "a loop is unrolled so many times, a whole number")
    for word in _WORD.findall(text):
        if word not in declared:
            raise _wrong(directive, f"{word} is declared nowhere")


def _pack(directive: Directive, pushed: int) -> int:
    """Return what a `pack` adds to the depth of its stack."""
    match = _PACK.match(directive.rest)
    if not match:
        raise _wrong(directive, "write pack(), pack(4), pack(push, 4) or pack(pop)")
    size = match["alone"] or match["size"]
    if size and size not in _SIZES:
        raise _wrong(directive, "an alignment is 1, 2, 4, 8 or 16")
    if match["stack"] == "pop" and not pushed:
        raise _wrong(directive, "nothing was pushed before")
    return {"push": 1, "pop": -1}.get(match["stack"] or "", 0)


def _wrong(directive: Directive, why: str) -> Exception:
    return refusal(f"#pragma {directive.rest[:80]}: {why}.", directive.line, Defect.COMPILE_ERROR)
