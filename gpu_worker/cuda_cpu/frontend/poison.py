"""Identifiers that no token of a kernel may become, even by pasting two halves together.

`rules` refuses them where they appear in the text. A macro can assemble an identifier that does not
appear there, so the preprocessor poisons them: forming one is an error. Where a condition excludes
them they do no harm: PTX behind `#ifndef LEARNML_CPU` is fine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gpu_worker.cuda_cpu.frontend import rules

HEADER: Final = "poisoned.h"
"""The kit's file that a translation includes after the prelude."""

_COMPILER: Final = (
    *("asm", "__asm", "__asm__", "__attribute", "__attribute__", "__declspec", "gnu", "__gnu__"),
)
_OWN_WORD: Final = re.compile(r"\b(?:learnml|__tsan|__ubsan)(?:_\w+)?\b")
_MACRO: Final = re.compile(r"^#define (\w+)(?:\([^)]*\))? (.*)$", re.MULTILINE)
_REACHES: Final = re.compile(r"\b(?:__attribute(?:__)?|__asm(?:__)?|asm|_Pragma|__declspec)\b")
_OF_CUDA: Final = frozenset(
    ("__global__", "__shared__", "__align__", "__builtin_align__", "__maxnreg__")
    + ("__local_maxnreg__", "__block_size__", "__no_return__", "__inline_hint__")
    + ("LEARNML_ENTRIES", "LEARNML_VARIABLES", "LEARNML_PACKED")
)
"""The prelude's macros that stand for attributes and may be used: none passes on what it is given,
but numbers in brackets of their own."""


def header(runtime: Path, symbols: str, macros: str) -> str:
    """Return the text of the file that poisons.

    `runtime` is the folder of the executor's own sources, `symbols` the names in its object, where
    its macros have put some together; `macros` is what the compiler lists of the prelude with
    `-dM`: those that stand for an attribute, a pragma or assembler would be a way around the words.
    """
    own = {*_own(runtime), *_OWN_WORD.findall(symbols)}
    words = sorted({*_COMPILER, *rules.NEVER, *own, *_reaching(macros)} - {"import"})
    return f"#pragma GCC poison {' '.join(words)}\n"


def _own(runtime: Path) -> Iterator[str]:
    for path in sorted(runtime.iterdir()):
        yield from _OWN_WORD.findall(path.read_text(encoding="ascii"))


def _reaching(macros: str) -> Iterator[str]:
    for name, body in _MACRO.findall(macros):
        if _REACHES.search(body) and name not in _OF_CUDA:
            yield name
