"""What a kernel's source may ask of the compiler: arithmetic, and nothing of this machine.

The compiler runs in a sandbox where there is nothing to find. These rules come before it: they
explain what is not possible, and let nothing through that could reach a file in the first place.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from typing import Final

from gpu_worker.cuda_cpu.errors import refusal
from gpu_worker.cuda_cpu.frontend import attributes, headers, pragmas
from gpu_worker.cuda_cpu.frontend.cleaning import CleanSource, Directive
from gpu_worker.cupy_cpu.executor.defects import Defect

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
_LIKE_A_GUARD: Final = re.compile(
    r"__(?!CUDA|NV|STDC|LP64|VA_|LINE|FILE|COUNTER|DATE|TIME|BASE|INCLUDE|LEARNML)[A-Z][A-Z0-9_]*\Z"
)
"""Names such as __RMS_NORM_H__, common in sources and defined by no compiler."""
_PLAIN: Final = _CONDITIONS | {"define", "undef", "error", "warning", "pragma", "ident", ""}
_INCLUDED: Final = re.compile(r'[<"]([^<>"]*)[>"]\s*$')
_WORD: Final = re.compile(r"\b[A-Za-z_$][\w$]*")
_STRING: Final = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')

_NO_PRAGMA: Final = 'A pragma has a line of its own here, or is written _Pragma("unroll").'
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
"""Identifiers that are refused wherever they occur, and why."""
_OWN_PREFIXES: Final = ("learnml", "__tsan", "__ubsan", "__asan", "__start_", "__stop_", "__ehdr")
_OWN: Final = "LEARNML_"
ON_A_PROCESSOR: Final = "LEARNML_CPU"
"""The macro that is defined where a processor runs a kernel: the one such name for sources."""


def check(source: CleanSource, before: Sequence[str] = ()) -> None:
    """Refuse a source that asks for more than a kernel needs.

    `before` is what options put before its first line: headers, and macros.

    Raises:
        CompileError: with the line and the reason.
    """
    conditional = barred_includes(source)
    for directive in source.directives:
        if directive.line not in conditional:
            _check_directive(directive)
        if directive.name not in ("include", "pragma"):
            _check_words(directive.rest, directive.line)
    pragmas.check(source, before)
    included = " ".join((*before, *(i.rest for i in source.directives if i.name == "include")))
    own = {_WORD.findall(item.rest)[0] for item in source.directives
           if item.name == "define" and _WORD.match(item.rest)}  # fmt: skip
    for number, line in enumerate(source.code.split("\n"), start=1):
        _check_words(line, number)
        _check_headers(line, number, included, own)


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
    elif directive.name not in _PLAIN:
        raise refusal(
            f"The directive #{directive.name} is not taken here; a kernel can use #define, #if and "
            "their kin, #include of CUDA's headers, and #pragma.",
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
    return headers.why_not(included[1].strip())


def _check_headers(line: str, number: int, included: str, own: Container[str]) -> None:
    for word, needed in headers.needed(line):
        if word not in own and not any(header in included for header in needed):
            raise refusal(
                f"{word} is not known on a device without #include <{needed[0]}>: put that line at "
                "the top of the source.",
                number,
                Defect.COMPILE_ERROR,
            )


def _check_macro(directive: Directive) -> None:
    name = _WORD.match(directive.rest)
    if name and (_of_the_compiler(name[0]) or name[0] == "defined"):
        raise refusal(
            f"{name[0]} cannot be defined: names that begin with two underscores belong to the "
            "compiler.",
            directive.line,
        )
    if name and name[0] in ("asm", "gnu"):
        raise refusal(f"{name[0]} cannot be defined here.", directive.line)


def _of_the_compiler(name: str) -> bool:
    """Return whether a name is, or may be, one of the compiler's or the prelude's own."""
    if not name.startswith("__"):
        return False
    return bool(_OF_ONE_COMPILER.match(name)) or not _LIKE_A_GUARD.match(name)


def _check_words(text: str, line: int) -> None:
    for word in _WORD.findall(_STRING.sub(" ", text)):
        why = never(word)
        if why:
            raise refusal(why, line)


def never(word: str) -> str:
    """Return why a source may not have a word, "" if it may."""
    if word in NEVER:
        return NEVER[word]
    own = word.startswith(_OWN) and word not in (ON_A_PROCESSOR, attributes.PACKED)
    if own or word.startswith(_OWN_PREFIXES):
        return f"The name {word} belongs to the executor; take another one."
    return ""
