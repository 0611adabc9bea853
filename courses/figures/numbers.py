"""Formatting of numbers in figures. `static/js/figures/numbers.js` has the same functions.

Keep both identical: a page is rendered here and updated there, and a number must not change its
format when the script starts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Context, Decimal

MINUS = "−"
INFINITY = "∞"
TIMES = "\u00a0×\u00a0"  # between no-break spaces
# Every float is a decimal of at most 767 significant digits.
_EXACT = Context(prec=1100, rounding=ROUND_HALF_UP)
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# Smaller and larger numbers are written with a power of ten.
LOWEST_PLAIN_EXPONENT, HIGHEST_PLAIN_EXPONENT = -4, 5


def fixed(value: float, decimals: int) -> str:
    """Format a number with a fixed number of decimals, without a minus sign before zero.

    Halves are rounded up, as browsers do; Python's own formatting rounds them to even.
    """
    text = format(_EXACT.quantize(Decimal(abs(value)), Decimal(1).scaleb(-decimals)), "f")
    return (MINUS if value < 0 and text.strip("0.") else "") + text


def power(exponent: int) -> str:
    """Format a power of ten: 10⁻⁶."""
    return "10" + str(exponent).translate(_SUPERSCRIPTS)


def shown(value: float, digits: int = 4) -> str:
    """Format a number with a number of significant digits: 0.02739, 12.00, 1.20 × 10⁻⁶."""
    if value == 0:
        return "0"
    sign = MINUS if value < 0 else ""
    if math.isinf(value):
        return sign + INFINITY
    size = Decimal(abs(value))
    exponent = size.adjusted()
    mantissa = _EXACT.quantize(size.scaleb(-exponent, _EXACT), Decimal(1).scaleb(1 - digits))
    if mantissa >= 10:
        exponent += 1
        mantissa = _EXACT.quantize(mantissa / 10, Decimal(1).scaleb(1 - digits))
    if LOWEST_PLAIN_EXPONENT <= exponent <= HIGHEST_PLAIN_EXPONENT:
        return sign + fixed(abs(value), max(0, digits - 1 - exponent))
    return f"{sign}{mantissa}{TIMES}{power(exponent)}"


def percent(share: float) -> str:
    """Format a fraction as a percentage: 8.80%."""
    return f"{shown(100 * share, 3)}%"


def row(values: Iterable[float], decimals: int = 3) -> str:
    """Format a row of numbers: (0.365, 0.730)."""
    return f"({', '.join(fixed(value, decimals) for value in values)})"
