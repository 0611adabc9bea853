"""What is specific to judging the CuPy track on a node without a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gpu_worker.cupy_cpu.executor.defects import CAUSES
from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.cases.case import Case, describe
from gpu_worker.judge.diagnosis.search import JudgedCase, names_sign
from gpu_worker.judge.kernels.findings import findings, merged
from gpu_worker.judge.kernels.registers import remember
from gpu_worker.judge.running.builds import Builds
from gpu_worker.judge.running.execution import FLAGGED_STOP, Execution, Stop, kernel_errors
from gpu_worker.judge.verdict.compare import Sign
from gpu_worker.judge.verdict.kernel_faults import ARGUMENT_REMEDIES, MEANINGS
from gpu_worker.judge.verdict.notes import read_notes
from gpu_worker.judge.verdict.transcript import Raised
from gpu_worker.messages.protocol import Failure, Finding, Mistake, Outcome
from gpu_worker.sandbox.client import RunResult
from gpu_worker.sandbox.inside.wire import WireError

EXECUTION: Final = "functional, executed on CPU, not timed"


def adjusted(execution: Execution, builds: Builds) -> Stop | None:
    """Return why a run ended, where that has to do with its kernels' being built."""
    if builds.forged or _notes_are_forged(execution.run):
        return FLAGGED_STOP
    if execution.stop is None and all(item.verdict.passed for item in execution.judged):
        # A program that goes on without its kernels is judged by its results alone.
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
    """Return what was found of kernels in a run; nothing where its notes are forged.

    Which of them had large blocks is kept until all runs are done: see `registers`.
    """
    if builds.forged or _notes_are_forged(run):
        return []
    noted = read_notes(run.frames)
    remember(builds, noted, cases, shown=all(case.public for case in cases))
    return findings(source, builds.requests, builds.diagnostics, noted, cases)


def explains_all(executions: Sequence[Execution]) -> bool:
    """True if an error that was found of a kernel stands beside every case that failed."""
    failed = [
        (number, execution)
        for execution in executions
        for number, item in enumerate(execution.judged)
        if not item.verdict.passed
    ]
    kinds = {id(execution): kernel_errors(execution.run) for execution in executions}
    return bool(failed) and all(number in kinds[id(execution)] for number, execution in failed)


def explained(
    exercise: Exercise, mistakes: Sequence[Mistake], found: Sequence[Finding]
) -> list[Mistake]:
    """Return the mistakes without "results do not repeat" where threads that race are the reason.

    What that mistake advises, to draw no random numbers, would lead away from what was found.
    """
    causes = {item.kind for item in found if item.severity == "error"}.intersection(CAUSES)
    return [
        item
        for item in mistakes
        if not causes or not names_sign(exercise, [item], Sign.NOT_REPEATABLE)
    ]


def with_reason(failure: Failure, failed: JudgedCase | None, found: Sequence[Finding]) -> Failure:
    """Return the failure with the finding about the refused launch, in its own words.

    Unlike the general explanation of the defect it names the argument, and what to pass instead.
    """
    problem = failed.played.problem if failed else None
    if failed is None or not isinstance(problem, Raised):
        return failure
    where = describe(failed.case)
    there = merged([item for item in found if item.case == where])
    if problem.name == "TypeError":
        # Raised before anything was launched, so the argument is named by a warning.
        refused = [item.message for item in there if item.kind in ARGUMENT_REMEDIES]
        raised = failed.verdict.message
        message = failure.message.replace(raised, " ".join([*refused[:1], raised]))
        return failure.model_copy(update={"message": message})
    errors = [item for item in there if item.severity == "error"]
    if problem.name != "CUDADriverError" or not errors:
        return failure
    message = failure.message.replace(MEANINGS[errors[0].kind], errors[0].message)
    return failure.model_copy(update={"message": message})


def _notes_are_forged(run: RunResult) -> bool:
    try:
        read_notes(run.frames)
    except WireError:
        return True
    return False
