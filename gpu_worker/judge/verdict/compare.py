"""Compares the results of a case with the expected ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpu_worker.judge.cases import dtypes
from gpu_worker.judge.cases.case import Case, method_at
from gpu_worker.judge.cases.reference import Expected
from gpu_worker.judge.cases.units import error_in_units, histogram, limit_in_units
from gpu_worker.judge.verdict.refusals import FORBIDDEN_IMPORT, kernel_fault_text, refusal_text
from gpu_worker.judge.verdict.transcript import (
    COMPILE_ERROR,
    PlayedCase,
    Raised,
    Refused,
    same_bytes,
)
from gpu_worker.messages.protocol import Outcome
from gpu_worker.sandbox.inside.script import last_contents
from gpu_worker.sandbox.inside.wire import Reason


class Sign(StrEnum):
    """What a case shows beside, or instead of, a wrong number.

    Besides these there is one for each input that is changed, see `modified`.
    """

    OUTPUT_REUSED = "output-reused"
    NOT_REPEATABLE = "not-repeatable"


def modified(name: str) -> str:
    """Return the sign that an input is changed: x, dout, or a parameter by its name."""
    return f"{name}-modified"


def is_modified(sign: str) -> bool:
    """True for the signs that `modified` makes."""
    return sign.endswith("-modified")


@dataclass(frozen=True, slots=True)
class Deviation:
    """The worst element of one result. `units` is infinite where the result is not finite."""

    quantity: str
    index: tuple[int, ...]
    expected: float
    got: float
    units: float
    limit: float
    dtype: np.dtype[Any]
    errors: NDArray[np.float64] = field(repr=False)

    @property
    def histogram(self) -> list[int]:
        """Counts of elements per power of two of units."""
        return histogram(self.errors)

    @property
    def share(self) -> float:
        """The error as a share of what is allowed."""
        return self.units / self.limit


@dataclass(frozen=True, slots=True)
class CaseVerdict:
    """Whether a case passed, and if not, what a learner should know first."""

    passed: bool
    outcome: Outcome = Outcome.ACCEPTED
    message: str = ""
    worst: Deviation | None = None
    sign: str = ""
    problem: Raised | Refused | None = None


def judge_case(
    case: Case, played: PlayedCase, expected: Sequence[Expected], gradients: Sequence[str]
) -> CaseVerdict:
    """Judge a case that was played to its end, or whose class raised or refused.

    Raises:
        ValueError: the case was not played to its end and nothing says why.
    """
    if played.complete and (changed := _changed_inputs(case, played)):
        # Checked first, because wrong numbers follow from it where an input is used again.
        message = _change_text(changed)
        return CaseVerdict(False, Outcome.WRONG_ANSWER, message, sign=modified(changed[0]))
    worst: Deviation | None = None
    once = len(expected) // case.repeats
    for place, (got, wanted) in enumerate(zip(played.results, expected, strict=False)):
        if place >= once and same_bytes(got, played.results[place % once]):
            continue
        if message := _contract_breach(got, wanted, gradients):
            return CaseVerdict(False, Outcome.CONTRACT_ERROR, message)
        deviation = measure(case, got, wanted, gradients)
        if deviation is None:
            continue
        if deviation.units > deviation.limit:
            message = f"{wanted.quantity} is outside the tolerance."
            return CaseVerdict(False, Outcome.WRONG_ANSWER, message, deviation)
        worst = max(filter(None, (worst, deviation)), key=lambda item: item.share)
    if played.problem:
        return _judge_problem(played.problem, case, played.called)
    if not played.complete:
        raise ValueError("a case without an end was compared")
    if broken := _broken_promise(case, played):
        sign, message = broken
        return CaseVerdict(False, Outcome.WRONG_ANSWER, message, worst=None, sign=sign)
    return CaseVerdict(True, worst=worst)


def measure(
    case: Case, got: NDArray[Any], wanted: Expected, gradients: Sequence[str]
) -> Deviation | None:
    """Return the worst element of a result of the right shape; None where there is none."""
    if got.size == 0 or wanted.scale is None:
        return None
    dtype = result_dtype(wanted, got)
    errors = error_in_units(got, wanted.value, wanted.scale, dtype)
    if case.bad_rows is not None and errors.ndim == case.bad_rows.ndim + 1:
        errors[case.bad_rows] = 0.0
    flat = int(np.argmax(errors))
    index = tuple(int(i) for i in np.unravel_index(flat, errors.shape))
    summed = wanted.quantity in gradients
    return Deviation(
        quantity=wanted.quantity,
        index=index,
        expected=float(wanted.value[index]),
        got=float(got[index]),
        units=float(errors[index]),
        limit=limit_in_units(dtype, wanted.x_shape[-1], wanted.rows, summed_over_rows=summed),
        dtype=dtype,
        errors=errors,
    )


def result_dtype(wanted: Expected, got: NDArray[Any]) -> np.dtype[Any]:
    """Return the dtype that a result is as exact as: the coarser of its own and its x's."""
    if not dtypes.is_floating(got.dtype):
        return wanted.dtype
    return min(wanted.dtype, got.dtype, key=lambda dtype: dtype.itemsize)


def signs_of(case: Case, played: PlayedCase) -> set[str]:
    """Return every sign that a case shows which was played to its end, numbers aside."""
    if not played.complete:
        return set()
    signs = {modified(name) for name in _changed_inputs(case, played)}
    broken = _broken_promise(case, played)
    return signs | ({broken[0]} if broken else set())


def _contract_breach(got: NDArray[Any], wanted: Expected, gradients: Sequence[str]) -> str:
    name = wanted.quantity
    if got.shape != wanted.value.shape:
        return (
            f"{name} has shape {got.shape}, but it must be {wanted.value.shape} for an x of "
            f"shape {wanted.x_shape}."
        )
    if got.dtype != wanted.dtype:
        like = name[1:] if name in gradients else "x"
        return (
            f"{name} has dtype {got.dtype}, but {like} has {wanted.dtype}: return the same dtype."
        )
    return ""


def _changed_inputs(case: Case, played: PlayedCase) -> list[str]:
    """Return the names of the inputs that do not hold what they were given, each once."""
    contents = zip(_input_names(case), last_contents(case.script), played.inputs, strict=True)
    changed = [
        name for name, given, now in contents if now is not None and not same_bytes(given, now)
    ]
    return list(dict.fromkeys(changed))


def _change_text(names: list[str]) -> str:
    listed = " and ".join(names)
    one = len(names) == 1
    return (
        f"Your code changed its input{'' if one else 's'} {listed}. Work on a copy: the caller "
        f"still needs {'it' if one else 'them'}."
    )


def _broken_promise(case: Case, played: PlayedCase) -> tuple[Sign, str] | None:
    """Look for a changed earlier result, and for results that do not repeat."""
    for (_, operation), first, later in zip(
        case.compared(), played.results, played.again, strict=bool(played.again)
    ):
        if not same_bytes(first, later):
            name = operation.name or {"forward": "y", "backward": "dx"}[operation.kind]
            return Sign.OUTPUT_REUSED, (
                f"{name} of an earlier call changed when a later call was made: return a new "
                "array each time."
            )
    if case.repeats > 1:
        return _judge_repeats(case, played)
    return None


def _judge_repeats(case: Case, played: PlayedCase) -> tuple[Sign, str] | None:
    count = len(played.results) // case.repeats
    for place, result in enumerate(played.results):
        if not same_bytes(result, played.results[place % count]):
            return Sign.NOT_REPEATABLE, NOT_REPEATED
    return None


NOT_REPEATED: Final = (
    "The same input gave different results when it was given again: results must not depend on "
    "earlier calls or on chance."
)


def _input_names(case: Case) -> list[str]:
    names = {
        operation.array: operation.name or {"forward": "x", "backward": "dout"}[operation.kind]
        for operation in case.script.operations
        if operation.array >= 0 and operation.kind != "cast"
    }
    return [names[place] for place in range(len(case.script.arrays))]


def _judge_problem(problem: Raised | Refused, case: Case, called: int) -> CaseVerdict:
    method = method_at(case, called)
    where = f" in {method}" if method else ""
    if isinstance(problem, Refused) and problem.reason is Reason.KERNEL_FAULT:
        outcome, message = Outcome.WRONG_ANSWER, kernel_fault_text(problem.text)
    elif isinstance(problem, Refused):
        outcome = Outcome.CONTRACT_ERROR
        message = refusal_text(problem, case, called, show=case.public)
    elif problem.name == "MemoryError":
        outcome, message = (
            Outcome.MEMORY_LIMIT,
            f"Your code asked for more memory than allowed{where}.",
        )
    elif problem.name == "ForbiddenImportError":
        outcome, message = Outcome.CONTRACT_ERROR, FORBIDDEN_IMPORT
    elif problem.name == COMPILE_ERROR:
        outcome, message = Outcome.RUNTIME_ERROR, f"A kernel does not compile{where}."
    else:
        outcome, message = Outcome.RUNTIME_ERROR, f"Your code raised {problem.name}{where}."
    return CaseVerdict(False, outcome, message, problem=problem)
