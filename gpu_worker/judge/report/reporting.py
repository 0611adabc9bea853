"""Turns judged cases into the report that a learner reads, and decides what it may show.

Of public cases and of loading the file it shows output, messages and tracebacks. Of hidden
cases: family, shape, dtype, layout, eps, the worst element as expected and as computed,
the name of a standard exception and the line in the learner's own file. Never their inputs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

from gpu_worker.exercises.registry import Exercise
from gpu_worker.exercises.spec import Group
from gpu_worker.judge.cases.case import Case, place_of
from gpu_worker.judge.diagnosis.search import JudgedCase
from gpu_worker.judge.running.execution import Stop
from gpu_worker.judge.verdict.compare import Deviation
from gpu_worker.judge.verdict.transcript import COMPILE_ERROR, Raised, Refused
from gpu_worker.messages.protocol import (
    Counted,
    Failure,
    Finding,
    GroupResult,
    Mistake,
    Outcome,
    PastedFinding,
    Speed,
    WorstCase,
)
from gpu_worker.pasted import NO_CLASS, recognise

_CONTROL_CHARACTERS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]|\r")
_DIGITS: Final = {"bfloat16": 4, "float16": 5, "float32": 9, "float64": 17}
_MAX_TRACEBACK: Final = 8_000
_MAX_MESSAGE: Final = 4_000


def clean_text(data: bytes | str) -> str:
    """Return text without control characters, except tabs and line ends; bad UTF-8 is marked."""
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    text = text.encode("utf-8", "replace").decode("utf-8")
    return _CONTROL_CHARACTERS.sub("", text.replace("\r\n", "\n"))


def group_results(
    groups: Sequence[Group], cases: Sequence[Case], judged: Sequence[JudgedCase]
) -> list[GroupResult]:
    """Return each group's result; a group is passed if all its cases ran and passed."""
    results = []
    for group in groups:
        total = sum(case.group == group.id for case in cases)
        ran = [item for item in judged if item.case.group == group.id]
        passed = sum(item.verdict.passed for item in ran)
        state: bool | None = passed == total if len(ran) == total or passed < len(ran) else None
        results.append(
            GroupResult(
                id=group.id,
                title=group.title,
                weight=group.weight,
                passed=state,
                cases=total,
                cases_passed=passed,
            )
        )
    return results


def score_of(results: Sequence[GroupResult]) -> float:
    """Return the weight of the groups passed as a share of the weight of those that were asked."""
    asked = [result for result in results if result.cases]
    total = math.fsum(result.weight for result in asked)
    passed = math.fsum(result.weight for result in asked if result.passed)
    return min(1.0, round(passed / total, 6)) if total else 0.0


def worst_case(judged: Sequence[JudgedCase], default_eps: float | None) -> WorstCase | None:
    """Return the first failing case's worst element, else the largest error of all cases."""
    with_error = [item for item in judged if item.verdict.worst is not None]
    failing = next((item for item in with_error if not item.verdict.passed), None)
    if failing is None and with_error and all(item.verdict.passed for item in judged):
        failing = max(with_error, key=lambda item: _share(item.verdict.worst))
    if failing is None or failing.verdict.worst is None:
        return None
    case, worst = failing.case, failing.verdict.worst
    return WorstCase(
        group=case.group,
        family=case.family,
        shape=list(case.shape),
        dtype=case.dtype.name,
        layout=case.layout,
        eps=default_eps if case.eps is None else case.eps,
        quantity=worst.quantity,
        index=list(worst.index),
        expected=_decimal(worst.expected, worst),
        got=_decimal(worst.got, worst),
        units=worst.units if math.isfinite(worst.units) else None,
        limit=worst.limit,
        failed=not failing.verdict.passed,
        histogram=worst.histogram,
    )


def case_failure(item: JudgedCase, lines: int, titles: Mapping[str, str]) -> Failure:
    """Return why a case failed; `lines` is the number of lines of the learner's file.

    `titles` are those of the groups by their ids.
    """
    problem = item.verdict.problem
    line, trace, message = None, "", item.verdict.message
    if isinstance(problem, Raised):
        line = problem.line if 1 <= problem.line <= lines else None
        if item.case.public:
            trace = clean_text(problem.traceback)[:_MAX_TRACEBACK]
    # In a public case it may contain the learner's own text, such as the name of a method.
    text = clean_text(f"In {place_of(item.case, titles)}: {message}")
    return Failure(message=text[:_MAX_MESSAGE], line=line, traceback=trace)


def stop_failure(stop: Stop, lines: int) -> Failure:
    """Return why a run stopped."""
    return Failure(
        message=clean_text(stop.message)[:_MAX_MESSAGE],
        line=stop.line if 1 <= stop.line <= lines else None,
        traceback=clean_text(stop.traceback)[:_MAX_TRACEBACK],
        limit=stop.limit,
        measured=stop.measured,
    )


def pasted_findings(
    source: str, loading: Raised | Refused | None, failed: JudgedCase | None = None
) -> list[PastedFinding]:
    """Return what stands in a source because it was pasted.

    `loading` is why the file could not be loaded, `failed` the first case that failed.
    """
    problem = loading or (failed.verdict.problem if failed else None)
    if isinstance(problem, Raised) and (loading or problem.name == COMPILE_ERROR):
        return recognise(source, problem.name, problem.line)
    return recognise(source, NO_CLASS if loading else "")


def with_pasted(failure: Failure, pasted: Sequence[PastedFinding]) -> Failure:
    """Add to why a file was refused what was pasted into it, and the line if none is known."""
    errors = [finding for finding in pasted if finding.severity == "error"]
    if not errors:
        return failure
    text = f"{failure.message} {errors[0].message}"
    if len(errors) > 1:
        text += f" {len(errors) - 1} more such finding{'s' * (len(errors) > 2)} below."
    line = failure.line or errors[0].line
    return failure.model_copy(update={"message": text[:_MAX_MESSAGE], "line": line})


def outcome_notes(
    outcome: Outcome,
    late: Stop | None,
    mistakes: Sequence[Mistake],
    found: Sequence[Finding],
    *,
    cut_short: bool = False,
) -> list[str]:
    """Return what is to be said beside a failure; `late` is a stop that came after it.

    An error that was found in a kernel explains a wrong answer, a warning may do so. `cut_short`:
    not every known mistake was tried.
    """
    if late:
        text = f"Later, the program was stopped as well. {clean_text(late.message)}"
        return [text[:_MAX_MESSAGE]]
    severities = {finding.severity for finding in found}
    if outcome is Outcome.WRONG_ANSWER and not mistakes and "error" not in severities:
        if "warning" in severities:
            return ["No known mistake explains all of these results. What is warned of may."]
        if cut_short:
            return [
                "No known mistake was found in the time that the search has; not every one, and "
                "not every two together, were tried."
            ]
        return ["No known mistake explains all of these results: it may be a rare one, or several."]
    return []


def speed_notes(speed: Speed | None) -> list[str]:
    """Return a sentence on each direction that was timed."""
    if speed is None:
        return []
    size = " x ".join(map(str, speed.shape))
    return [
        f"Speed, {row.direction}, {size} {speed.dtype}: {row.refused}"
        if row.refused
        else f"Speed, {row.direction}, {size} {speed.dtype}: {row.ms:.2f} ms "
        f"(± {row.spread_ms:.2f}, {row.calls} calls), {row.copy_fraction:.0%} of the bandwidth of "
        f"a copy, {row.times_reference:.1f} times as long as {speed.reference}. "
        "It does not count for the score."
        for row in speed.rows
    ]


def counted_notes(counted: Counted | None) -> list[str]:
    """Return a sentence on each direction that was counted, and the advice."""
    if counted is None:
        return []
    size = " x ".join(map(str, counted.shape))
    lines = [
        f"Counted, {row.direction}, {size} {counted.dtype}: {row.bytes_read + row.bytes_written:,} "
        f"bytes moved in {row.launches} launch{'es' if row.launches != 1 else ''}, at least "
        f"{row.bytes_least:,} must be. Executed on a processor, so nothing is timed."
        for row in counted.rows
    ]
    return [*lines, *counted.advice]


def asked_groups(exercise: Exercise, cases: Sequence[Case]) -> list[Group]:
    """Return the groups that have at least one of the cases."""
    present = {case.group for case in cases}
    return [group for group in exercise.groups if group.id in present]


def _share(deviation: Deviation | None) -> float:
    return deviation.share if deviation else 0.0


def _decimal(value: float, deviation: Deviation) -> str:
    return f"{value:.{_DIGITS[deviation.dtype.name]}g}"
