"""What is different in judging a submission of the CuPy track on a node without a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gpu_worker.judge.builds import Builds
from gpu_worker.judge.case import Case
from gpu_worker.judge.execution import FLAGGED_STOP, Execution, Stop
from gpu_worker.judge.findings import findings
from gpu_worker.judge.notes import read_notes
from gpu_worker.protocol import Finding, Outcome
from gpu_worker.sandbox.client import RunResult
from gpu_worker.sandbox.inside.wire import WireError

EXECUTION: Final = "functional, executed on CPU, not timed"


def adjusted(execution: Execution, builds: Builds) -> Stop | None:
    """Return why a run ended, where that has to do with its kernels' being built."""
    if builds.forged or _notes_are_forged(execution.run):
        return FLAGGED_STOP
    if execution.stop is None and all(item.verdict.passed for item in execution.judged):
        # A program that goes on without its kernels is judged by its results.
        return None
    if builds.missing:
        return Stop(
            Outcome.NOT_GRADABLE,
            f"This worker cannot build kernels, so it cannot grade one. {builds.missing} Programs "
            "of array expressions alone are graded without a compiler.",
        )
    if builds.exceeded:
        return Stop(Outcome.TIME_LIMIT, builds.exceeded, limit=builds.limit, measured=builds.used)
    return execution.stop


def findings_of(
    source: str, builds: Builds, run: RunResult, cases: Sequence[Case]
) -> list[Finding]:
    """Return what was found of kernels in a run; nothing where its notes are forged."""
    if builds.forged or _notes_are_forged(run):
        return []
    return findings(source, builds.requests, builds.diagnostics, read_notes(run.frames), cases)


def _notes_are_forged(run: RunResult) -> bool:
    try:
        read_notes(run.frames)
    except WireError:
        return True
    return False
