"""Mistakes that the text of a kernel shows before it runs: integer divisions where a fraction was
meant. A device computes them silently, and so does the executor.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator
from typing import Final

from gpu_worker.cuda_cpu.frontend import cleaning
from gpu_worker.cuda_cpu.frontend.translating import Translation
from gpu_worker.cupy_cpu.executor.defects import Defect, Severity
from gpu_worker.cupy_cpu.executor.diagnostics import Diagnostic

_INTEGER_WORDS: Final = (
    r"(?:(?:const|unsigned|signed|long|short|int|size_t|ptrdiff_t|u?int(?:8|16|32|64)_t)\s+){1,6}"
)
_DECLARED: Final = re.compile(
    rf"\b{_INTEGER_WORDS}(?:\*\s*)?(?P<name>[A-Za-z_]\w*)\s*(?P<after>[=;,)\[:])"
)
_MORE_DECLARED: Final = re.compile(r",\s*([A-Za-z_]\w*)\s*(?==)")
_FLOATING: Final = re.compile(
    r"\b(?:float|double|half|__half|__nv_bfloat16)\s+(?:const\s+)?([A-Za-z_]\w*)\s*=([^;]{0,400});"
)
_UNIT_FRACTION: Final = re.compile(
    r"(?<![\w.])(?P<top>\d+)\s*/\s*(?P<bottom>[A-Za-z_]\w*(?:\.[xyz])?)(?![\w.(])"
)
_CAST_OF_QUOTIENT: Final = re.compile(
    r"\((?:float|double)\)\s*\(\s*([A-Za-z_]\w*)\s*/\s*([A-Za-z_]\w*)\s*\)"
    r"|\b(?:float|double)\s*\(\s*([A-Za-z_]\w*)\s*/\s*([A-Za-z_]\w*)\s*\)"
)
_PLAIN_QUOTIENT: Final = re.compile(r"^\s*([A-Za-z_]\w*)\s*/\s*([A-Za-z_]\w*)\s*$")
_STRING: Final = re.compile(r'"(?:\\.|[^"\\\n])*"')
_OF_NUMBERS: Final = re.compile(
    r"(?<![\w.'])(?P<top>\d{1,18})[uUlL]{0,3}\s*/\s*(?P<bottom>\d{1,18})[uUlL]{0,3}(?![\w.'])"
)
_WHOLE: Final = re.compile(
    r"\s*(?:(?:for\s*\(|static|constexpr|const|volatile|\b__\w+__\b)\s*)*"
    r"(?:(?:unsigned|signed|long|short|int|char|bool|size_t|ptrdiff_t|u?int\d+_t|enum|dim3)\b"
    r"|(?:static_assert|case|if\s+constexpr)\b|(?P<name>[A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)?[-+*/]?=[^=])"
)
"""Begins a statement that is about whole numbers, or assigns to a name."""
_ARGUMENT_OF_TEMPLATE: Final = re.compile(r"[A-Za-z_]\w*\s*<[^<>;(){}&|]*\Z")
_END_OF_TEMPLATE: Final = re.compile(r"[^<>;(){}&|]*>")
_OF_FRACTIONS: Final = re.compile(
    r"\b(?:float|double|half)\b|\d\.|\b(?:pow|r?sqrt|exp|log|fma|fmax|fmin|fabs)\w*\s*\("
)
_LONGEST: Final = 400
_MOST_QUOTIENTS: Final = 2000
"""Quotients of literals to examine; a source of nothing else would take seconds."""
_SIZES: Final = frozenset(f"{name}.{axis}" for name in ("blockDim", "gridDim") for axis in "xyz")


def notes(translation: Translation) -> Iterator[Diagnostic]:
    """Yield what looks wrong in the text, by line."""
    code = _STRING.sub(lambda text: cleaning.blank(text[0]), translation.code)
    integers = _integers(code)
    ends = [match.start() for match in re.finditer("\n", code)]
    seen: set[int] = set()
    for start, top, bottom in _suspects(code, integers):
        line = bisect.bisect_right(ends, start - 1) + 1
        if line in seen:
            continue
        seen.add(line)
        effect = f": it is 0 for every {bottom} above {top}" if top.isdigit() else ""
        if bottom.isdigit():
            effect = f": it is {int(top) // int(bottom)}"
        float_top = f"{top}.0f" if top.isdigit() else f"(float){top}"
        message = (
            f"{top} / {bottom} divides integers, and drops what is behind the point{effect}. For "
            f"a fraction, divide floats: {float_top} / {bottom}."
        )
        kernel = _kernel_at(translation, line)
        yield Diagnostic(Defect.INTEGER_DIVISION, Severity.WARNING, kernel, line, message)


def _integers(code: str) -> frozenset[str]:
    names = {match["name"] for match in _DECLARED.finditer(code)}
    floats = {match[1] for match in _FLOATING.finditer(code)}
    return frozenset(names - floats) | _SIZES


def _suspects(code: str, integers: frozenset[str]) -> Iterator[tuple[int, str, str]]:
    for match in _UNIT_FRACTION.finditer(code):
        # (D + 255) / 256 has a name in the numerator; a literal alone there means a fraction.
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
    for match in itertools.islice(_OF_NUMBERS.finditer(code), _MOST_QUOTIENTS):
        top, bottom = int(match["top"]), int(match["bottom"])
        if (
            bottom
            and top % bottom
            and _means_fraction(code, match, integers, below_one=top < bottom)
        ):
            yield match.start(), match["top"], match["bottom"]


def _means_fraction(
    code: str, match: re.Match[str], integers: frozenset[str], *, below_one: bool
) -> bool:
    """Return whether a quotient of two numbers stands where a fraction is meant.

    A 0 is meant nowhere but in a size; what is above 1 may be a number of blocks.
    """
    statement = _statement_before(code, match.start())
    before = statement.rstrip()
    # n * 3 / 4 divides the product, (float)1 / 2 a float.
    if before.endswith(("*", "/", "%", ")", "]")) or _in_square_brackets(before):
        return False
    if _ARGUMENT_OF_TEMPLATE.search(before) and _END_OF_TEMPLATE.match(code, match.end()):
        return False
    whole = _WHOLE.match(statement)
    if whole and (whole["name"] is None or whole["name"] in integers):
        return False
    return below_one or bool(_OF_FRACTIONS.search(statement) and not before.endswith(("<", ">")))


def _statement_before(code: str, at: int) -> str:
    """Return the beginning of the statement that goes on at a place."""
    text = code[max(0, at - _LONGEST) : at]
    start = len(text)
    while (start := max(text.rfind(mark, 0, start) for mark in ";{}")) >= 0:
        # The brace of an initializer list begins no statement.
        if text[start] != "{" or not text[:start].rstrip().endswith(("=", "]", ",", "{")):
            break
    return text[start + 1 :]


def _in_square_brackets(before: str) -> bool:
    depth = 0
    for character in reversed(before):
        depth += (character in ")]") - (character in "([")
        if depth < 0 and character == "[":
            return True
        depth = max(depth, 0)
    return False


def _kernel_at(translation: Translation, line: int) -> str:
    before = [kernel.name for kernel in translation.found if kernel.line <= line]
    return before[-1] if before else ""
