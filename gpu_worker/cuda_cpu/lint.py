"""What the text of a kernel gives away before it runs: divisions of integers where a fraction was
meant. A device computes them without a word, and so does the executor.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gpu_worker.cuda_cpu.device.diagnostics import Diagnostic
from gpu_worker.cuda_cpu.device.kinds import Kind, Severity
from gpu_worker.cuda_cpu.translating import Translation

_INTEGER_WORDS: Final = (
    r"(?:(?:const|unsigned|signed|long|short|int|size_t|ptrdiff_t|u?int(?:8|16|32|64)_t)\s+){1,6}"
)
_DECLARED: Final = re.compile(
    rf"\b{_INTEGER_WORDS}(?:\*\s*)?(?P<name>[A-Za-z_]\w*)\s*(?P<after>[=;,)\[:])"
)
_MORE_DECLARED: Final = re.compile(r",\s*([A-Za-z_]\w*)\s*(?==)")
_FLOATING: Final = re.compile(
    r"\b(?:float|double|half|__half|__nv_bfloat16)\s+(?:const\s+)?([A-Za-z_]\w*)\s*=([^;]*);"
)
_UNIT_FRACTION: Final = re.compile(
    r"(?<![\w.])(?P<top>\d+)\s*/\s*(?P<bottom>[A-Za-z_]\w*(?:\.[xyz])?)(?![\w.(])"
)
_CAST_OF_QUOTIENT: Final = re.compile(
    r"\((?:float|double)\)\s*\(\s*([A-Za-z_]\w*)\s*/\s*([A-Za-z_]\w*)\s*\)"
    r"|\b(?:float|double)\s*\(\s*([A-Za-z_]\w*)\s*/\s*([A-Za-z_]\w*)\s*\)"
)
_PLAIN_QUOTIENT: Final = re.compile(r"^\s*([A-Za-z_]\w*)\s*/\s*([A-Za-z_]\w*)\s*$")
_SIZES: Final = frozenset(f"{name}.{axis}" for name in ("blockDim", "gridDim") for axis in "xyz")


def notes(translation: Translation) -> Iterator[Diagnostic]:
    """Yield what looks wrong in the text, by line."""
    code = translation.code
    integers = _integers(code)
    seen: set[int] = set()
    for start, top, bottom in _suspects(code, integers):
        line = code.count("\n", 0, start) + 1
        if line in seen:
            continue
        seen.add(line)
        effect = f": it is 0 for every {bottom} above {top}" if top.isdigit() else ""
        float_top = f"{top}.0f" if top.isdigit() else f"(float){top}"
        message = (
            f"{top} / {bottom} divides integers, and drops what is behind the point{effect}. For "
            f"a fraction, divide floats: {float_top} / {bottom}."
        )
        kernel = _kernel_at(translation, line)
        yield Diagnostic(Kind.INTEGER_DIVISION, Severity.WARNING, kernel, line, message)


def _integers(code: str) -> frozenset[str]:
    names = {match["name"] for match in _DECLARED.finditer(code)}
    floats = {match[1] for match in _FLOATING.finditer(code)}
    return frozenset(names - floats) | _SIZES


def _suspects(code: str, integers: frozenset[str]) -> Iterator[tuple[int, str, str]]:
    for match in _UNIT_FRACTION.finditer(code):
        # (D + 255) / 256 and the like have a name on top; a lone number on top is a fraction.
        if match["bottom"] in integers and match["top"] != "0":
            yield match.start(), match["top"], match["bottom"]
    for match in _CAST_OF_QUOTIENT.finditer(code):
        top, bottom = (match[1], match[2]) if match[1] else (match[3], match[4])
        if top in integers and bottom in integers:
            yield match.start(), top, bottom
    for match in _FLOATING.finditer(code):
        quotient = _PLAIN_QUOTIENT.match(match[2])
        if quotient and quotient[1] in integers and quotient[2] in integers:
            yield match.start(2), quotient[1], quotient[2]


def _kernel_at(translation: Translation, line: int) -> str:
    before = [kernel.name for kernel in translation.found if kernel.line <= line]
    return before[-1] if before else ""
