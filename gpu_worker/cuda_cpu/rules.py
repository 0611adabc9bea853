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
    ("cuda_fp16.h", "cuda_bf16.h", "cuda_runtime.h", "cuda_runtime_api.h")
    + ("device_launch_parameters.h", "device_functions.h", "vector_types.h", "vector_functions.h")
    + ("math_constants.h", "sm_60_atomic_functions.h")
    + ("cooperative_groups.h", "cooperative_groups/reduce.h", "cooperative_groups/scan.h")
)
"""CUDA's own, which NVRTC finds where CuPy has it look. All of them are there already: the lines
that include them are left out."""

_BUILT_IN: Final = "is built in"
_NO_NUMBERS: Final = "write the number itself, for example 3.402823466e+38f for FLT_MAX"
LEFT_OUT: Final = {
    **dict.fromkeys(("stdio.h", "cstdio"), f"printf {_BUILT_IN}"),
    **dict.fromkeys(("assert.h", "cassert"), f"assert {_BUILT_IN}"),
    **dict.fromkeys(("string.h", "cstring", "memory.h"), "memcpy and memset are built in"),
    **dict.fromkeys(("stddef.h", "cstddef"), f"size_t {_BUILT_IN}"),
    **dict.fromkeys(("math.h", "cmath"), "sqrtf, rsqrtf, expf, fmaxf and their kin are built in"),
    **dict.fromkeys(("algorithm", "utility"), "min and max are built in"),
    **dict.fromkeys(
        ("stdint.h", "cstdint", "inttypes.h", "cinttypes"),
        "write int, unsigned or long long, which have 32, 32 and 64 bits",
    ),
    **dict.fromkeys(("float.h", "cfloat", "limits.h", "climits", "limits"), _NO_NUMBERS),
    "cuda.h": "it is for programs that launch kernels, and CuPy does that",
}
"""Headers that are often included, and what to do without them. NVRTC brings no C or C++
library: with CuPy on a device these lines end in "cannot open source file" (cuda.h includes
stdlib.h), see CuPy's issues 4321 and 4875. What they are for is built in, or written so."""

BAR: Final = "this header is not taken"
"""The text of the #error that stands where a condition may leave an include out."""
_OPENING: Final = frozenset(("if", "ifdef", "ifndef"))
_CONDITIONS: Final = _OPENING | {"elif", "else", "endif"}
_ASKING: Final = _OPENING | {"elif", "define"}
_OF_ONE_COMPILER: Final = re.compile(
    r"_GNU_SOURCE|__(?:GNU|GCC|GXX|GLIBC|EDG|OPTIMIZE|NO_INLINE|SANITIZE|VERSION|ELF|PIC|pic|PIE|pie"
    r"|linux|gnu_linux|unix|x86_64|amd64|aarch64|k8|SSE|MMX|SEG_|SIZEOF_|CHAR_BIT|BYTE_ORDER|FLT"
    r"|DBL|LDBL|DEC|INT(?!EL)|UINT|LONG|SCHAR|SHRT|SIZE_|PTRDIFF)"
)
"""Macros of g++ that NVRTC does not have, and __EDG__, which it has alone."""
_PLAIN: Final = _CONDITIONS | {"define", "undef", "error", "warning", ""}
_LIBRARIES: Final = ("cub/", "thrust/", "cutlass/", "cute/", "mma", "cuda/")
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
ON_A_PROCESSOR: Final = "LEARNML_CPU"
"""The macro that is defined where a processor runs a kernel: the one such name for sources."""


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
    conditional = barred_includes(source)
    for directive in source.directives:
        if directive.line not in conditional:
            _check_directive(directive)
        if directive.name not in ("include", "pragma"):
            _check_words(directive.rest, directive.line)
    included = " ".join(item.rest for item in source.directives if item.name == "include")
    for number, line in enumerate(source.code.split("\n"), start=1):
        _check_words(line, number)
        _check_headers(line, number, included)
        if re.search(r"(?:\[|<:)\s*(?:\[|<:)\s*using\b", line):
            raise refusal("Attributes with `using` are not taken here.", number)


def barred_includes(source: CleanSource) -> dict[int, str]:
    """Return why includes behind a condition are not taken, by their lines.

    Whether the condition holds is the preprocessor's to say: see `with_bars`.
    """
    depth, found = 0, {}
    for directive in source.directives:
        depth += (directive.name in _OPENING) - (directive.name == "endif")
        why = _why_not_included(directive) if directive.name == "include" and depth > 0 else ""
        if why:
            found[directive.line] = why
    return found


def compiler_asked_for(source: CleanSource) -> tuple[str, int] | None:
    """Return the first macro that a condition or another macro asks for and that one of the two
    compilers defines alone, with its line: what a device compiles may then be another source.
    """
    for directive in source.directives:
        if directive.name in _ASKING:
            for word in _WORD.findall(directive.rest):
                if _OF_ONE_COMPILER.match(word):
                    return word, directive.line
    return None


def with_bars(source: CleanSource, text: str) -> str:
    """Return `source.text` or `source.plain` with an #error where such an include stands."""
    lines, barred = text.split("\n"), barred_includes(source)
    for directive in source.directives:
        if directive.line in barred:
            first = directive.line - 1
            lines[first : first + directive.lines] = [
                f"#error {BAR}",
                *[""] * (directive.lines - 1),
            ]
    return "\n".join(lines)


def _check_directive(directive: Directive) -> None:
    if directive.name == "include":
        why = _why_not_included(directive)
        if why:
            raise refusal(why, directive.line)
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


def _why_not_included(directive: Directive) -> str:
    """Return why an include is not taken, "" if it is."""
    included = _INCLUDED.match(directive.rest)
    if not included:
        return (
            "Write the name of the header itself: #include <cuda_fp16.h>. A macro cannot stand "
            "for it here."
        )
    name = included[1].strip()
    return "" if name in HEADERS else f"The header {name!r} cannot be included. {_advice(name)}"


def _advice(name: str) -> str:
    """Return what to do without a header."""
    if name in LEFT_OUT:
        return (
            "NVRTC, which compiles kernels for CuPy, cannot include it for a device either. Take "
            f"the line out: {LEFT_OUT[name]}."
        )
    if name.startswith(_LIBRARIES):
        return "Libraries of kernels are not taken in these exercises: the sums are yours to write."
    return f"Kernels can include these headers only: {', '.join(sorted(HEADERS))}."


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
    if word.startswith(_OWN_PREFIXES) or (word.startswith(_OWN) and word != ON_A_PROCESSOR):
        return f"The name {word} belongs to the executor; take another one."
    return ""
