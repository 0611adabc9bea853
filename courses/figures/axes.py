"""Axes: map values to coordinates of the drawing, linear or logarithmic, with ticks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .numbers import power

Point = tuple[float, float]
# Stands for a value that a logarithmic axis cannot show: far below its lower end.
BELOW_LOG_AXIS = 1e-9


@dataclass(frozen=True, slots=True)
class Axis:
    """Maps values from `low` to `high` to coordinates from `start` to `end`, in units of the
    drawing.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Return the coordinate of a value, also beyond the ends."""
        low, high = self.low, self.high
        if self.log:
            value = math.log10(max(value, low * BELOW_LOG_AXIS))
            low, high = math.log10(low), math.log10(high)
        return self.start + (value - low) / (high - low) * (self.end - self.start)

    @property
    def spec(self) -> list[float]:
        """The axis in the form that the script reads."""
        return [self.low, self.high, self.start, self.end, int(self.log)]


@dataclass(frozen=True, slots=True)
class Plane:
    """A pair of axes."""

    x: Axis
    y: Axis

    def __call__(self, point: Point) -> Point:
        return self.x(point[0]), self.y(point[1])

    @property
    def spec(self) -> list[list[float]]:
        return [self.x.spec, self.y.spec]


def decades(low: float, high: float, step: int = 1) -> list[tuple[float, str]]:
    """Return the powers of ten from `low` to `high`, each `step`-th, with their labels."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    exponents = range(first + -first % step, last + 1, step)
    return [(10.0**exponent, "1" if exponent == 0 else power(exponent)) for exponent in exponents]


def log_space(low: float, high: float, count: int) -> list[float]:
    """Return `count` values from `low` to `high`, in equal ratios."""
    start, end = math.log10(low), math.log10(high)
    return [10 ** (start + (end - start) * place / (count - 1)) for place in range(count)]
