"""Checks launches for more rows than a grid has blocks along y or z, without running them.

A processor would take seconds for so many blocks. Whether a device refuses a launch is clear from
its arguments, so the program is called once with that many rows, its kernels are skipped, and its
results are ignored. This is only done with programs that launch several blocks along y or z.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.cases.case import Case
from gpu_worker.judge.kernels.counting import counted_case
from gpu_worker.judge.running.builds import Builds
from gpu_worker.judge.running.execution import Execution, execute, judge_run, kernel_errors
from gpu_worker.judge.verdict.notes import read_notes
from gpu_worker.judge.verdict.transcript import Raised
from gpu_worker.sandbox.client import RunResult, Zygote
from gpu_worker.sandbox.inside.wire import CaseScript, WireError

MOST_BLOCKS: Final = 65_535
"""Along y, and along z."""
_COLUMNS: Final = 8
_GROUP: Final = "shapes"
_SECONDS: Final = 5.0
"""What the program may take for it, of what is left: without kernels it has little to do."""


def spreads_rows(runs: Sequence[RunResult]) -> bool:
    """Tell whether a kernel of the learner's had other numbers of blocks along y or z by turns."""
    grids: dict[str, set[tuple[int, ...]]] = {}
    for run in runs:
        try:
            noted = read_notes(run.frames)
        except WireError:
            return False
        for kernel in (kernel for item in noted for kernel in item.notes.kernels):
            if not kernel.generated:
                grids.setdefault(kernel.name, set()).add(tuple(kernel.grid[1:]))
    return any(len(found) > 1 for found in grids.values())


def large_grid_case(exercise: Exercise, rng: np.random.Generator) -> Case:
    """Return a case with more rows than that, which asks for no results."""
    rows = MOST_BLOCKS + int(rng.integers(1, 1_000))
    case = counted_case(exercise, (rows, _COLUMNS), rng)
    kept = [replace(op, send=False) for op in case.script.operations if op.kind != "get"]
    groups = [group.id for group in exercise.case_groups]
    return replace(
        case,
        group=_GROUP if _GROUP in groups else groups[-1],
        family="many rows",
        script=CaseScript(tuple(kept), case.script.arrays, resend=False),
    )


def refused_launch(
    exercise: Exercise,
    source: str,
    limits: Mapping[str, float],
    zygote: Zygote,
    builds: Builds,
    rng: np.random.Generator,
) -> tuple[Case, Execution] | None:
    """Return the case and its run, judged, where a launch in it would be refused for its size.

    Anything else that the program does there says nothing of it, and None is returned.

    Raises:
        SandboxError: the sandbox failed.
    """
    case = large_grid_case(exercise, rng)
    bounded = {name: min(limits[name], _SECONDS) for name in ("wall_seconds", "cpu_seconds")}
    limits = {**limits, **bounded}
    _, run = execute(exercise, source, [case], limits, zygote, builds=builds, launches_only=True)
    execution = judge_run(exercise, [case], run, limits)
    problem = execution.judged[0].verdict.problem if execution.judged else None
    refused = isinstance(problem, Raised) and kernel_errors(run).get(0) == "launch-size"
    return (case, execution) if refused else None
