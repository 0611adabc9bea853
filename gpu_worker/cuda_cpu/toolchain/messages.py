"""Turns the compiler's messages into messages for the author of a kernel."""

from __future__ import annotations

import re
from typing import Final

from gpu_worker.cuda_cpu.errors import CompileError
from gpu_worker.cuda_cpu.frontend import cleaning, rules
from gpu_worker.cuda_cpu.frontend.translating import SOURCE_NAME
from gpu_worker.cuda_cpu.toolchain import advice
from gpu_worker.cupy_cpu.executor.defects import Defect, Severity
from gpu_worker.cupy_cpu.executor.diagnostics import Diagnostic
from gpu_worker.sandbox.compiling import CompilerRun

_ERROR: Final = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+)(?::\d+)?: (?:fatal )?error: (?P<text>.*)$"
)
_REQUIRED: Final = re.compile(rf"^{re.escape(SOURCE_NAME)}:(\d+):\d+:   required")
_UNDEFINED: Final = re.compile(
    rf"^(?:{re.escape(SOURCE_NAME)}:(?P<line>\d+): )?.*undefined reference to [`'](?P<name>[^'`]+)"
)
_POISONED: Final = re.compile(r'attempt to use poisoned "(?P<word>[^"]+)"')
_TWICE: Final = re.compile(r"multiple definition of [`'](?P<name>[^'`(]+)")
_FIRST: Final = re.compile(rf"{re.escape(SOURCE_NAME)}:(?P<line>\d+): (?:first defined|multiple)")
_MOST: Final = 8

_NO_HOST: Final = (
    "Attributes of the host's compiler are not taken here; use __align__(n), alignas(n), "
    "__forceinline__, __launch_bounds__."
)
_WORDS: Final = (
    (
        re.compile(r"_*asm"),
        "Inline PTX cannot run on a processor. Put it behind `#ifndef LEARNML_CPU` and give plain "
        "CUDA C beside it.",
    ),
    (re.compile(r"__attribute(?:__)?\Z|gnu|__gnu__|__declspec"), _NO_HOST),
)
NO_TIME: Final = (
    "It had too much to do to compile a kernel in time. That is not your program's fault: send it "
    "again."
)
_LIMITS: Final = {
    "cpu": "Compiling took more than two seconds of processor time. Name fewer instances of the "
    "template at a time, unroll less, and keep recursion of templates shallow.",
    "memory": "Compiling took more memory than there is for it: fewer template instances, less "
    "unrolling.",
    "size": "The compiled kernel is larger than is taken here.",
}


def compile_error(run: CompilerRun, source: str) -> CompileError:
    """Return what a failed run of the compiler means, one entry per error it reported."""
    if run.stopped:
        return CompileError([_error(_LIMITS[run.stopped], None)])
    found: dict[tuple[int | None, str], Diagnostic] = {}
    required = 0
    lines = cleaning.clean(source).plain.split("\n")
    barred = _barred(run, source)
    for text in run.messages.splitlines():
        place = _REQUIRED.match(text)
        if place:
            required = int(place[1])
        item = _read(text, required, lines)
        if item and item.message == f"#error {rules.BAR}" and item.line in barred:
            item = _refused(barred[item.line], item.line)
        if item:
            found.setdefault((item.line, item.message), item)
            required = 0
    if not found:
        return CompileError([_error("The compiler gave up on this source.", None)])
    # Errors that follow from a forbidden identifier add nothing.
    poisoned = [item for item in found.values() if item.kind is Defect.REFUSED_SOURCE]
    if poisoned:
        return CompileError(poisoned[:_MOST])
    return CompileError(list(found.values())[:_MOST])


def _read(text: str, required: int, lines: list[str]) -> Diagnostic | None:
    match = _ERROR.match(text)
    if match:
        own = match["file"] == SOURCE_NAME
        line = int(match["line"]) if own else required or None
        line = line if line and line <= len(lines) else None
        poisoned = _POISONED.match(match["text"])
        if poisoned:
            return _refused(_refused_word(poisoned["word"]), line)
        return _error(advice.plain(match["text"], lines[line - 1] if line else ""), line)
    match = _TWICE.search(text)
    if match:
        place = _FIRST.search(text)
        return _error(
            f"The name {advice.plain(match['name'])} is there already: the executor or its C "
            "library has a function of that name. Take another one.",
            int(place["line"]) if place else None,
        )
    match = _UNDEFINED.match(text)
    if match:
        line = int(match["line"]) if match["line"] else _line_of(match["name"], lines)
        return _error(advice.of_missing_function(match["name"]), line)
    return None


def _line_of(name: str, lines: list[str]) -> int | None:
    """Return the first line that has a function's name, or `new`."""
    word = re.compile(rf"\b{re.escape(name.split('(')[0].removeprefix('operator ').strip('[]'))}\b")
    return next((number for number, line in enumerate(lines, start=1) if word.search(line)), None)


def _refused_word(word: str) -> str:
    """Return why a word may not come to be; `poison` lists them."""
    why = rules.never(word)
    if why:
        return why
    reason = next((reason for words, reason in _WORDS if words.match(word)), "")
    return reason or f"{word} stands for an attribute, a pragma or assembler. {_NO_HOST}"


def _barred(run: CompilerRun, source: str) -> dict[int, str]:
    """Return why includes that the preprocessor has come to are not taken, by their lines."""
    return rules.barred_includes(cleaning.clean(source)) if rules.BAR in run.messages else {}


def _refused(why: str, line: int | None) -> Diagnostic:
    return Diagnostic(Defect.REFUSED_SOURCE, Severity.ERROR, "", line, why)


def _error(text: str, line: int | None) -> Diagnostic:
    return Diagnostic(Defect.COMPILE_ERROR, Severity.ERROR, "", line, text)
