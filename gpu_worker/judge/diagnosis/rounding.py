"""Distinguishes digits lost to rounding from results that are slightly wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.cases.reference import Array, Expected, play_exactly, reference_class
from gpu_worker.judge.diagnosis.agreement import JudgedCase
from gpu_worker.judge.diagnosis.steps import steps_of, with_changed_step

_BOTH_WAYS: Final = 0.1
"""Rounding errs up and down, about equally often. A factor or a summand errs one way."""
_EXPLAINED: Final = 0.9
"""Share of the errors' squares. Constants leave what float64 rounds, which is far below the errors
looked at; of rounding they explain about their number over that of independent errors."""
_LARGE: Final = 0.25
"""Of a result's largest error."""
_MIN_RESULTS: Final = 3
_MIN_ROWS: Final = 16
_MIN_COLUMNS: Final = 3
_NUMBERS_PER_CONSTANT: Final = 4
_NUDGE: Final = 1e-5
"""Small enough for results to change in proportion, large beside what float64 rounds."""
_LARGEST_CASE: Final = 16_384
_NUMBERS_PER_RESULT: Final = 512
_Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Loss:
    """A result that is less exact than its dtype: what was got, and what the variant gives.

    `place` counts the results of its case.
    """

    item: JudgedCase
    place: int
    got: Array
    variant: Expected

    @property
    def error(self) -> _Column:
        """Return the errors (any shape); NaN where none can be told."""
        with np.errstate(invalid="ignore"):
            error = self.got.astype(np.float64) - self.variant.value
        rows = self.item.case.bad_rows
        if rows is not None and error.ndim == rows.ndim + 1:
            error[rows] = np.nan
        error[~np.isfinite(error)] = np.nan
        return error

    def of_large_errors(self) -> Loss:
        """Return the result with its large errors alone: small ones are any right result's."""
        error = np.abs(self.error)
        small = ~(error >= _LARGE * np.nanmax(error, initial=0.0))
        value = self.variant.value
        return replace(self, got=np.where(small, value, self.got.astype(np.float64)))


def are_rounded(exercise: Exercise, variant: type, losses: Sequence[Loss]) -> bool:
    """True if what the losses have in common is that their numbers were rounded on the way.

    The errors of each quantity go up and down, as well as away from zero and towards it. No factors
    and summands explain them: each step of the reference, which `variant` is or derives from, may
    have one of each, the same in all cases. And no step is too large, or too small, in all rows.
    """
    if not err_both_ways(losses):
        return False
    moves = _moved_by_constants(exercise, variant, losses)
    return _differ_from_constants(moves) and not _err_one_way_by_rows(moves)


def hold_numbers_of(dtype: np.dtype[Any], losses: Sequence[Loss]) -> bool:
    """True if each number is one that the narrower dtype has."""
    return all(_is_on_grid(loss.got, dtype) for loss in losses)


def _is_on_grid(got: Array, dtype: np.dtype[Any]) -> bool:
    with np.errstate(over="ignore"):
        same = got.astype(dtype).astype(got.dtype) == got
    return bool((same | ~np.isfinite(got)).all())


# --- which way they err --------------------------------------------------------------------------
def err_both_ways(losses: Sequence[Loss]) -> bool:
    """True if of each quantity's errors some are up and some down, and so away from zero."""
    shares: dict[str, list[tuple[float, float]]] = {}
    for loss in losses:
        shares.setdefault(loss.variant.quantity, []).extend(_ups(loss))
    return bool(losses) and all(
        _BOTH_WAYS <= sum(column) / len(column) <= 1 - _BOTH_WAYS
        for each in shares.values()
        for column in zip(*each, strict=True)
    )


def _ups(loss: Loss) -> Iterator[tuple[float, float]]:
    """Yield the share of errors that are upwards, and of those that are away from zero."""
    error, expected = loss.error, loss.variant.value
    counts = np.isfinite(error) & (error != 0.0) & (expected != 0.0)
    if counts.any():
        up = error[counts] > 0.0
        yield float(up.mean()), float((up == (expected[counts] > 0.0)).mean())


# --- constants -----------------------------------------------------------------------------------
def _moved_by_constants(
    exercise: Exercise, variant: type, losses: Sequence[Loss]
) -> dict[str, list[NDArray[np.float64]]]:
    """Return by quantity, for each result, its errors and how each constant moves it.

    In an array (rows, numbers of a row, 1 + constants).
    """
    nudged = list(_nudged(reference_class(exercise), variant))
    moves: dict[str, list[NDArray[np.float64]]] = {}
    small = (loss for loss in losses if loss.got.size <= _LARGEST_CASE)
    for _, group in groupby(small, key=lambda loss: id(loss.item)):
        of_case = list(group)
        moved = [play_exactly(exercise, cls, of_case[0].item.case) for cls in nudged]
        for loss in of_case:
            values = [results[loss.place].value for results in moved]
            moves.setdefault(loss.variant.quantity, []).extend(_in_proportion(loss, values))
    return moves


def _differ_from_constants(moves: dict[str, list[NDArray[np.float64]]]) -> bool:
    unexplained = [
        _unexplained(np.concatenate([_picked(result) for result in results]))
        for results in moves.values()
        if len(results) >= _MIN_RESULTS
    ]
    shares = [share for share in unexplained if share is not None]
    return bool(shares) and min(shares) > 1 - _EXPLAINED


def _err_one_way_by_rows(moves: dict[str, list[NDArray[np.float64]]]) -> bool:
    """True if a factor explains each row's errors of a quantity, and goes one way in all."""
    for results in moves.values():
        rows = np.concatenate([_alike(result) for result in results])
        rows = rows[np.isfinite(rows).all(axis=-1)]
        if len(rows) < _MIN_ROWS:
            continue
        up = np.mean(rows > 0.0, axis=0)
        one_way = (up < _BOTH_WAYS) | (up > 1 - _BOTH_WAYS)
        if (one_way & (np.mean(rows**2, axis=0) > _EXPLAINED)).any():
            return True
    return False


def _alike(result: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cosines (rows, constants) between a row's errors and how a constant moves it."""
    if result.shape[1] < _MIN_COLUMNS:
        return np.empty((0, result.shape[2] - 1))
    error, columns = result[..., :1], result[..., 1:]
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(error, axis=1) * np.linalg.norm(columns, axis=1)
        # A constant that does not move a row cannot explain it.
        return np.where(lengths == 0.0, 0.0, np.sum(error * columns, axis=1) / lengths)


def _picked(result: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return some numbers (n, 1 + constants) of a result, such that each counts the same."""
    table = result.reshape(-1, result.shape[-1])
    if len(table) > _NUMBERS_PER_RESULT:
        table = table[np.linspace(0, len(table) - 1, _NUMBERS_PER_RESULT).astype(int)]
    with np.errstate(all="ignore"):
        table = table / np.linalg.norm(table[:, 0])
    # Not finite where the squares of the errors underflow.
    return table if np.isfinite(table).all() else table[:0]


def _nudged(reference: type, variant: type) -> Iterator[type]:
    """Yield the variant with a factor, and with a summand, on what each of its steps returns."""
    for name in steps_of(reference):
        for change in (_times_a_factor, _with_a_summand):
            yield type(
                variant.__name__, (with_changed_step(variant, name, change),), {"shared": {}}
            )


def _times_a_factor(values: Array) -> Array:
    return values * (1.0 + _NUDGE)


def _with_a_summand(values: Array) -> Array:
    return values + _NUDGE


def _in_proportion(loss: Loss, moved: Sequence[Array]) -> Iterator[NDArray[np.float64]]:
    """Yield a result's errors and how each constant moves it, in units of its terms' size.

    Rows that hold what is not finite are left out.
    """
    expected, error = loss.variant, loss.error
    scale = np.ones(error.shape) if expected.scale is None else expected.scale
    if scale.shape != error.shape or any(value.shape != error.shape for value in moved):
        return
    with np.errstate(all="ignore"):
        columns = [(value - expected.value) / scale for value in moved]
        table = np.stack([error / scale, *columns], axis=-1)
    table = table.reshape(-1, error.shape[-1], 1 + len(moved))
    table = table[np.isfinite(table).all(axis=(1, 2))]
    if table.size:
        yield table


def _unexplained(table: NDArray[np.float64]) -> float | None:
    """Return the share of the errors' squares that no sum of the other columns has.

    `table` is (n, 1 + constants), with the errors first. None where n is too small to tell.
    """
    error, columns = table[:, 0], table[:, 1:]
    lengths = np.linalg.norm(columns, axis=0)
    columns = columns[:, lengths > 0.0] / lengths[lengths > 0.0]
    # Columns that differ by less than the error of the nudging are one.
    solution, _, rank, _ = np.linalg.lstsq(columns, error, rcond=10 * _NUDGE)
    if not len(error) or len(error) < _NUMBERS_PER_CONSTANT * rank:
        return None
    left = error - columns @ solution
    return float(left @ left / (error @ error))
