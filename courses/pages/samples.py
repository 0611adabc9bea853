"""The example of the home page; its script computes the same for other rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

ROW = (1.0, 2.0, 3.0, 4.0)
EPS = 1e-6


@dataclass(frozen=True, slots=True)
class NormSample:
    """A row of D numbers, its root mean square, and the row divided by it, with three decimals."""

    row: Sequence[str]
    rms: str
    result: Sequence[str]
    mean_square: str


def rmsnorm_sample(row: Sequence[float] = ROW, eps: float = EPS) -> NormSample:
    """Return RMSNorm of one row with gamma 1: x / sqrt(mean(x**2) + eps)."""
    rms = math.sqrt(sum(x * x for x in row) / len(row) + eps)
    result = [x / rms for x in row]
    return NormSample(
        row=[f"{x:g}" for x in row],
        rms=f"{rms:.3f}",
        result=[f"{y:.3f}" for y in result],
        mean_square=f"{sum(y * y for y in result) / len(result):.3f}",
    )
