"""The results of a submission in the public cases, kept so that two gradings can be compared.

The public cases are the same in every grading and on every track, and their inputs are no secret.
Nothing is kept of hidden cases, which are drawn anew each time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_worker.judge.cases import dtypes
from gpu_worker.judge.cases.reference import Expected
from gpu_worker.judge.cases.units import limit_in_units, unit_sizes
from gpu_worker.judge.diagnosis.agreement import JudgedCase
from gpu_worker.judge.verdict.compare import result_dtype
from gpu_worker.messages.protocol import MAX_PUBLIC_ELEMENTS, PublicResult


def public_results(judged: Sequence[JudgedCase], gradients: Sequence[str]) -> list[PublicResult]:
    """Return each result of the right form; what a case did not give, or misshaped, is missing."""
    return [
        result
        for item in judged
        if item.case.public
        for got, wanted in zip(item.played.results, item.expected, strict=False)
        for result in _result(item, got, wanted, gradients)
    ]


def _result(
    item: JudgedCase, got: NDArray[Any], wanted: Expected, gradients: Sequence[str]
) -> Iterator[PublicResult]:
    if got.shape != wanted.value.shape or wanted.scale is None:
        return
    if not dtypes.is_floating(got.dtype) or got.size > MAX_PUBLIC_ELEMENTS:
        return
    dtype = result_dtype(wanted, got)
    with np.errstate(invalid="ignore"):
        values = got.astype(np.float64).ravel().tolist()
    yield PublicResult(
        case=item.case.family,
        quantity=wanted.quantity,
        dtype=got.dtype.name,
        shape=list(got.shape),
        values=[value if math.isfinite(value) else None for value in values],
        units=unit_sizes(wanted.scale, dtype).ravel().tolist(),
        limit=limit_in_units(
            dtype,
            wanted.x_shape[-1],
            wanted.rows,
            summed_over_rows=wanted.quantity in gradients,
        ),
    )
