"""Counts what an accepted program of the CuPy track moves and does, where nothing can be timed.

One forward and one backward on a float32 x of a fixed shape, and of those that budgets name. The
counts come from beside the learner's code; only budgets rest on them, see `budgets`. The
results are judged as every other case's are.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.builds import Builds, refusals_of, resources_of
from gpu_worker.judge.case import Case, ScriptBuilder
from gpu_worker.judge.execution import Execution, execute, judge_run
from gpu_worker.judge.findings import of_devices_compiler, shown_names
from gpu_worker.judge.notes import KernelNote, Noted, read_notes
from gpu_worker.judge.occupancy import occupancy
from gpu_worker.protocol import Counted, CountedCall, Finding, KernelCounts
from gpu_worker.sandbox.client import Zygote
from gpu_worker.sandbox.inside.wire import ArrayValue, WireError

ARRAYS_MOVED: Final[Mapping[str, int]] = {"forward": 2, "backward": 3}
"""How many arrays of x's size each direction must at least read or write."""
_MUCH: Final = 1.25
"""Moving this many times the least is worth a word."""
_SCATTERED: Final = 0.6
_LOW_OCCUPANCY: Final = 0.5
_MAX_CALLS: Final = 8
_MAX_KERNELS: Final = 8
_MAX_ADVICE: Final = 8
_CONFLICTS_PER_ROW: Final = 32

Needs = Mapping[tuple[int, str], Mapping[str, int]]
"""What kernels need on a device, by the build that they are of and their name."""
ShownName = Callable[[str], str]
"""Returns what a report may show of a kernel's name."""


@dataclass(slots=True)
class Count:
    """What counting gave: a message for each shape, and the run, judged like any other.

    `counts` is empty where a result is wrong, or the notes cannot be read. `counted` is what the
    report shows: the counts of the exercise's counted shape. `findings` are of NVIDIA's compiler:
    why a device would not run the kernels.
    """

    execution: Execution
    cases: list[Case]
    job: bytes
    counts: list[Counted] = field(default_factory=list)
    counted: Counted | None = None
    findings: list[Finding] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether all results were right."""
        judged = self.execution.judged
        return self.execution.stop is None and all(item.verdict.passed for item in judged)


def count(
    exercise: Exercise,
    source: str,
    limits: Mapping[str, float],
    zygote: Zygote,
    builds: Builds,
    rng: np.random.Generator,
    on_case: Callable[[int], None] | None = None,
) -> Count | None:
    """Run the counted cases, one for each shape; None where the exercise has none.

    Raises:
        SandboxError: the sandbox failed.
    """
    shapes = counted_shapes(exercise)
    if not shapes:
        return None
    cases = [counted_case(exercise, shape, rng) for shape in shapes]
    job, run = execute(
        exercise, source, cases, limits, zygote, on_case, builds=builds, counted=True
    )
    result = Count(judge_run(exercise, cases, run, limits), cases, job)
    try:
        everything = read_notes(run.frames)
        noted = [_of_case(everything, number, case) for number, case in enumerate(cases)]
    except WireError:
        return result
    if result.passed:
        names = shown_names(source)
        result.counts = [
            _counted(exercise, case, of_case, builds, lambda kernel: names(kernel) or "kernel")
            for case, of_case in zip(cases, noted, strict=True)
        ]
        result.counted = result.counts[0] if exercise.counted_shape else None
        result.findings = _refused(source, everything, builds)
    return result


def counted_shapes(exercise: Exercise) -> list[tuple[int, int]]:
    """Return the shapes that are counted, each once: the exercise's own, then those of budgets."""
    own = [exercise.counted_shape] if exercise.counted_shape else []
    return list(dict.fromkeys([*own, *(budget.shape for budget in exercise.budgets)]))


def counted_case(exercise: Exercise, shape: tuple[int, int], rng: np.random.Generator) -> Case:
    """Return the case: float32, contiguous, with parameters of its own."""
    checks = frozenset(exercise.results)
    script = ScriptBuilder(checks, exercise.gradients)
    constructor = exercise.constructor
    eps = exercise.default_eps if "eps" in constructor else None
    parameters = {
        name: rng.standard_normal(shape[-1]).astype(np.float32) for name in exercise.parameters
    }
    script.new(0, shape[-1] if "dim" in constructor else 0, eps, parameters)
    for direction in exercise.directions:
        values = rng.standard_normal(shape).astype(np.float32)
        call = script.forward if direction == "forward" else script.backward
        call(0, ArrayValue(values, "contiguous", shape))
    return Case(
        group=exercise.case_groups[-1].id,
        family="counted call",
        dtype=np.dtype(np.float32),
        layout="contiguous",
        eps=eps,
        shape=shape,
        checks=checks,
        script=script.build(resend=False),
    )


def _of_case(noted: Sequence[Noted], number: int, case: Case) -> list[Noted]:
    """Return what was noted in a case.

    Raises:
        WireError: some of it is of no operation of the case, or of more calls than are made.
    """
    found = [item for item in noted if item.case == number]
    if any(item.position >= len(case.script.operations) for item in found):
        raise WireError("notes on what was never called")
    if sum(_is_of_a_call(case, item) for item in found) > _MAX_CALLS:
        raise WireError("notes on more calls than were asked for")
    return found


def _is_of_a_call(case: Case, item: Noted) -> bool:
    kind = case.script.operations[item.position].kind
    return item.notes.counts is not None and kind in ARRAYS_MOVED


def _counted(
    exercise: Exercise, case: Case, noted: Sequence[Noted], builds: Builds, shown: ShownName
) -> Counted:
    needs = _needs(noted, builds)
    rows = [_call(case, item, needs, shown) for item in noted if _is_of_a_call(case, item)]
    size = _array_bytes(case)
    advice = [sentence for row in rows for sentence in _advice(exercise, row, size)]
    for item in noted:
        advice += _read_again(exercise, case, item, size, shown)
    return Counted(
        shape=list(case.shape), dtype=case.dtype.name, rows=rows, advice=advice[:_MAX_ADVICE]
    )


def _needs(noted: Sequence[Noted], builds: Builds) -> Needs:
    """Return what NVIDIA's compiler says of the kernels that ran: each module is read once for them
    all, and its other kernels are left out.
    """
    return {
        (build, name): used
        for build, names in _ran(noted).items()
        for name, used in resources_of(builds.requests.get(build), names).items()
    }


def _refused(source: str, noted: Sequence[Noted], builds: Builds) -> list[Finding]:
    """Return why NVIDIA's compiler refuses the kernels that ran, if it does."""
    found: list[Finding] = []
    for build, names in _ran(noted).items():
        request = builds.requests.get(build)
        if request is not None:
            found += of_devices_compiler(source, request, refusals_of(request, names))
    return found


def _ran(noted: Sequence[Noted]) -> dict[int, set[str]]:
    """Return the names of the learner's kernels that ran, by their build."""
    ran: dict[int, set[str]] = defaultdict(set)
    for item in noted:
        for kernel in item.notes.kernels[:_MAX_KERNELS]:
            if not kernel.generated:
                ran[kernel.build].add(kernel.name)
    return ran


def _call(case: Case, item: Noted, needs: Needs, shown: ShownName) -> CountedCall:
    direction = case.script.operations[item.position].kind
    counts = item.notes.counts
    assert counts is not None  # noqa: S101  the caller has looked
    cached_read = sum(_cached(kernel, case, "bytes_read") for kernel in item.notes.kernels)
    cached_written = sum(_cached(kernel, case, "bytes_written") for kernel in item.notes.kernels)
    rows = math.prod(case.shape[:-1])
    return CountedCall(
        direction=direction,
        bytes_read=max(0, counts.bytes_read - cached_read),
        bytes_written=max(0, counts.bytes_written - cached_written),
        bytes_least=ARRAYS_MOVED[direction] * _array_bytes(case),
        launches=counts.launches,
        kernels=[
            _kernel(kernel, rows, needs, shown) for kernel in item.notes.kernels[:_MAX_KERNELS]
        ],
    )


def _array_bytes(case: Case) -> int:
    return math.prod(case.shape) * case.dtype.itemsize


def _cached(kernel: KernelNote, case: Case, direction: str) -> int:
    """Return the bytes of a kernel's launches that a cache serves: small arrays, read again.

    An array without the rows' axis, such as gamma, stays in the cache; one of x's size does not.
    """
    small = _array_bytes(case) // 2
    total = 0
    for array in kernel.counters.arrays:
        moved: int = getattr(array, direction)
        if array.nbytes < small:
            total += max(0, moved - array.nbytes)
    return total * kernel.launches


def _kernel(kernel: KernelNote, rows: int, needs: Needs, shown: ShownName) -> KernelCounts:
    counters = kernel.counters
    used = needs.get((kernel.build, kernel.name), {})
    registers, spilled = used.get("registers"), used.get("spill_bytes")
    shared = kernel.shared_mem + (used.get("shared_bytes") or 0)
    sectors = sum(a.sectors for a in counters.accesses if a.space == "global")
    ideal = sum(a.ideal_sectors for a in counters.accesses if a.space == "global")
    threads = math.prod(kernel.block)
    known = occupancy(threads, registers, shared) if registers and 0 < threads <= 1024 else None
    return KernelCounts(
        name=shown(kernel.name),
        launches=kernel.launches,
        grid=kernel.grid,
        block=kernel.block,
        shared_bytes=shared,
        barriers_per_row=round(counters.barriers * kernel.launches / max(rows, 1), 3),
        coalescing=round(min(1.0, ideal / sectors), 4)
        if sectors and not kernel.generated
        else None,
        bank_conflicts=sum(a.bank_conflicts for a in counters.accesses if a.space == "shared"),
        registers=registers,
        spilled_bytes=spilled,
        occupancy=round(known.share, 4) if known else None,
        occupancy_limit=known.limit if known else "",
    )


def _is_enough(exercise: Exercise, row: CountedCall, array_bytes: int) -> bool:
    """Tell whether a call moves no more than its exercise asks for.

    That is what its budget allows; where budgets bound the other direction alone, anything.
    """
    if not exercise.budgets:
        return False
    allowed = [one.moved for one in exercise.budgets if one.direction == row.direction]
    moved = (row.bytes_read + row.bytes_written) / array_bytes
    return not allowed or moved <= min(allowed)


def _advice(exercise: Exercise, row: CountedCall, array_bytes: int) -> Iterator[str]:
    """Yield sentences on what could move less, or sooner."""
    moved = row.bytes_read + row.bytes_written
    least = ARRAYS_MOVED[row.direction]
    if moved > _MUCH * row.bytes_least and not _is_enough(exercise, row, array_bytes):
        sentence = (
            f"{row.direction}: {moved / array_bytes:.3g} NDs moved "
            f"({row.bytes_read / array_bytes:.3g} read, {row.bytes_written / array_bytes:.3g} "
            f"written), the least is {least} NDs, where NDs is the size of x. "
            f"{_why(row, array_bytes)}"
        )
        yield sentence.rstrip()
    for kernel in row.kernels:
        if kernel.coalescing is not None and kernel.coalescing < _SCATTERED:
            yield (
                f"{row.direction}, {kernel.name}: only {kernel.coalescing:.0%} of the bytes in the "
                "sectors that are moved are used. Let neighbouring threads read neighbouring "
                "elements."
            )
        if kernel.bank_conflicts > _CONFLICTS_PER_ROW * kernel.launches:
            yield (
                f"{row.direction}, {kernel.name}: {kernel.bank_conflicts} bank conflicts in shared "
                "memory. Threads of a warp that use different words of one bank wait for each "
                "other: change the stride, for example by padding a row by one element."
            )
        if kernel.spilled_bytes:
            yield (
                f"{row.direction}, {kernel.name}: {kernel.spilled_bytes} bytes a thread do not fit "
                "into registers and are kept in slow memory. Hold fewer values a thread."
            )
        if kernel.occupancy is not None and kernel.occupancy < _LOW_OCCUPANCY:
            yield (
                f"{row.direction}, {kernel.name}: {kernel.occupancy:.0%} of the warps can run at "
                f"once; {kernel.occupancy_limit} bounds it."
            )


def _read_again(
    exercise: Exercise, case: Case, item: Noted, size: int, shown: ShownName
) -> Iterator[str]:
    """Yield which large arrays one kernel reads more than once, if the exercise asks for less."""
    direction = case.script.operations[item.position].kind
    if exercise.budgets and all(one.direction != direction for one in exercise.budgets):
        return
    for kernel in item.notes.kernels:
        for array in kernel.counters.arrays:
            times = array.bytes_read / max(array.nbytes, 1)
            if 2 * array.nbytes >= size and times > _MUCH:
                yield (
                    f"{direction}, {shown(kernel.name)}: reads its argument {array.place + 1} (an "
                    f"array) {_times(times)}. Once is enough: keep the row in registers or in "
                    "shared memory."
                )


def _times(number: float) -> str:
    return "twice" if f"{number:.3g}" == "2" else f"{number:.3g} times"


def _why(row: CountedCall, array_bytes: int) -> str:
    """Return where the bytes come from, as far as the counts of the call show it."""
    if not row.launches:
        return "Values go to the host and come back: compute on the device."
    if row.launches > len(row.kernels) + 2 or not row.kernels:
        return (
            f"It takes {row.launches} launches, and each reads its inputs and writes its output: "
            "do more in one kernel."
        )
    if row.bytes_written > _MUCH * array_bytes:
        return (
            "More is written than the result: what one kernel leaves for another is written and "
            "read once more. Leave fewer parts."
        )
    return ""


def counts_of(exercise: Exercise, source: str, zygote: Zygote, **options: Any) -> Counted | None:
    """Return what a source moves and does, for the chapter; None where it is not right.

    Raises:
        SandboxError: the sandbox failed.
    """
    limits = exercise.limits_for("cupy")
    zygote.start()
    with Builds(zygote.builds, limits) as builds:
        found = count(exercise, source, limits, zygote, builds, np.random.default_rng(), **options)
    return found.counted if found else None
