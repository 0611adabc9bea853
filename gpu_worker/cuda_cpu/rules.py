"""What a kernel's source may ask of the compiler: arithmetic, and nothing of this machine.

The compiler works in a sandbox where there is nothing to find. These rules come before it: they
say in words what is not possible, and leave nothing that could reach a file to begin with.
"""

from __future__ import annotations

import re
from typing import Final

from gpu_worker.cuda_cpu.cleaning import CleanSource, Directive
from gpu_worker.cuda_cpu.device.kinds import Kind
from gpu_worker.cuda_cpu.errors import refusal

HEADERS: Final = frozenset(
    ("cuda_fp16.h", "cuda_bf16.h", "cuda_runtime.h", "cuda_runtime_api.h", "cuda.h")
    + ("device_launch_parameters.h", "device_functions.h", "vector_types.h", "vector_functions.h")
    + (
        "math_constants.h",
        "cooperative_groups.h",
        "cooperative_groups/reduce.h",
        "cooperative_groups/scan.h",
        "sm_60_atomic_functions.h",
    )
    + ("stdint.h", "stddef.h", "math.h", "float.h", "limits.h", "stdio.h", "assert.h", "string.h")
    + ("cstdint", "cstddef", "cmath", "cfloat", "climits", "cstdio", "cassert", "cstring", "limits")
    + ("type_traits", "utility", "algorithm")
)
"""All of them are there already: the lines that include them are left out."""

_CONDITIONS: Final = frozenset(("if", "ifdef", "ifndef", "elif", "else", "endif"))
_PLAIN: Final = _CONDITIONS | {"define", "undef", "error", "warning", ""}
_PRAGMAS: Final = frozenset(("unroll", "nounroll", "once", ""))
_INCLUDED: Final = re.compile(r'[<"]([^<>"]*)[>"]\s*$')
_WORD: Final = re.compile(r"\b[A-Za-z_$][\w$]*")
_STRING: Final = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')

_NO_PRAGMA: Final = "Pragmas other than `#pragma unroll` are not taken here."
_NO_QUESTION: Final = "A kernel cannot ask which files there are."
_NO_FILE: Final = "A kernel has no file of its own here."
_NO_TIME: Final = "The time of compiling is not told: a source always compiles to the same."
NEVER: Final = {
    **dict.fromkeys(("_Pragma", "__pragma"), _NO_PRAGMA),
    **dict.fromkeys(("__has_include", "__has_include_next", "__has_embed"), _NO_QUESTION),
    **dict.fromkeys(("__FILE__", "__BASE_FILE__", "__INCLUDE_LEVEL__"), _NO_FILE),
    **dict.fromkeys(("__DATE__", "__TIME__", "__TIMESTAMP__"), _NO_TIME),
    "import": "Modules are not taken here: the CUDA headers are there already.",
}
"""Words that are refused wherever the text has them, and why."""
_OWN_PREFIXES: Final = ("learnml", "__tsan", "__ubsan", "__asan", "__start_", "__stop_", "__ehdr")
_OWN: Final = "LEARNML_"
_KNOWN_OWN: Final = "LEARNML_CPU"


_NEEDED: Final = {
    **dict.fromkeys(("__half", "__half2", "half2", "__float2half", "__half2float"), "cuda_fp16.h"),
    **dict.fromkeys(("__nv_bfloat16", "__nv_bfloat162", "__float2bfloat16"), "cuda_bf16.h"),
    "cooperative_groups": "cooperative_groups.h",
}
"""Names, and the header that brings them on a device. Here they are there without it."""
_OF_GROUPS: Final = re.compile(r"\b(?:cg|cooperative_groups)\s*::\s*(reduce|\w+_scan)\s*\(")


def check(source: CleanSource) -> None:
    """Refuse a source that asks for more than a kernel needs.

    Raises:
        CompileError: with the line and the reason.
    """
    for directive in source.directives:
        _check_directive(directive)
        if directive.name not in ("include", "pragma"):
            _check_words(directive.rest, directive.line)
    included = " ".join(item.rest for item in source.directives if item.name == "include")
    for number, line in enumerate(source.code.split("\n"), start=1):
        _check_words(line, number)
        _check_headers(line, number, included)
        if re.search(r"(?:\[|<:)\s*(?:\[|<:)\s*using\b", line):
            raise refusal("Attributes with `using` are not taken here.", number)


def _check_directive(directive: Directive) -> None:
    if directive.name == "include":
        _check_include(directive)
    elif directive.name == "pragma":
        words = directive.rest.replace("(", " ").split()
        if (words[0] if words else "") not in _PRAGMAS:
            raise refusal(_NO_PRAGMA, directive.line)
    elif directive.name not in _PLAIN:
        raise refusal(
            f"The directive #{directive.name} is not taken here; a kernel can use #define, #if and "
            "their kin, #include of CUDA's headers, and #pragma unroll.",
            directive.line,
        )
    elif directive.name in ("define", "undef"):
        _check_macro(directive)


def _check_include(directive: Directive) -> None:
    included = _INCLUDED.match(directive.rest)
    if not included:
        raise refusal(
            "Write the name of the header itself: #include <cuda_fp16.h>. A macro cannot stand "
            "for it here.",
            directive.line,
        )
    name = included[1].strip()
    if name in HEADERS:
        return
    library = name.startswith(("cub/", "thrust/", "cutlass/", "cute/", "mma", "cuda/"))
    advice = (
        "Libraries of kernels are not taken in these exercises: the reduction is yours to write."
        if library
        else f"Kernels can include CUDA's own headers only: {', '.join(sorted(HEADERS))}."
    )
    raise refusal(f"The header {name!r} cannot be included. {advice}", directive.line)


def _check_headers(line: str, number: int, included: str) -> None:
    words = [(word, _NEEDED.get(word, "")) for word in _WORD.findall(line)]
    for word in _OF_GROUPS.findall(line):
        header = f"cooperative_groups/{'reduce' if word == 'reduce' else 'scan'}.h"
        words.append((f"cooperative_groups::{word}", header))
    for word, header in words:
        if header and header not in included:
            raise refusal(
                f"{word} is not known on a device without #include <{header}>: put that line at "
                "the top of the source.",
                number,
                Kind.COMPILE_ERROR,
            )


def _check_macro(directive: Directive) -> None:
    name = _WORD.match(directive.rest)
    if name and (name[0].startswith("__") or name[0] == "defined"):
        raise refusal(
            f"{name[0]} cannot be defined: names that begin with two underscores belong to the "
            "compiler.",
            directive.line,
        )
    if name and name[0] in ("asm", "gnu"):
        raise refusal(f"{name[0]} cannot be defined here.", directive.line)


def _check_words(text: str, line: int) -> None:
    for word in _WORD.findall(_STRING.sub(" ", text)):
        why = never(word)
        if why:
            raise refusal(why, line)


def never(word: str) -> str:
    """Return why a source may not have a word, "" if it may."""
    if word in NEVER:
        return NEVER[word]
    if word.startswith(_OWN_PREFIXES) or (word.startswith(_OWN) and word != _KNOWN_OWN):
        return f"The name {word} belongs to the executor; take another one."
    return ""
