"""Counts the traffic and work of accepted programs of the CuPy track, as nothing can be timed.

One forward and one backward on a float32 x of a fixed shape, and on those that budgets name. The
counts come from the process of the learner's code, and only budgets rest on them, see `budgets`.
The results are judged like those of any other case.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.cases.case import Case, ScriptBuilder
from gpu_worker.judge.kernels import advice
from gpu_worker.judge.kernels.findings import of_devices_compiler, shown_names
from gpu_worker.judge.kernels.occupancy import occupancy
from gpu_worker.judge.kernels.registers import refused_launches, remember
from gpu_worker.judge.kernels.track import adjusted
from gpu_worker.judge.running.builds import Builds, refusals_of, resources_of
from gpu_worker.judge.running.execution import Execution, execute, judge_run
from gpu_worker.judge.running.timed_calls import ARRAYS_MOVED
from gpu_worker.judge.verdict.notes import ArrayTraffic, KernelNote, Noted, read_notes
from gpu_worker.messages.protocol import Counted, CountedCall, Finding, KernelCounts
from gpu_worker.sandbox.client import Zygote
from gpu_worker.sandbox.inside.wire import ArrayValue, WireError

_MAX_CALLS: Final = 8
MAX_KERNELS: Final = 8
_MAX_ADVICE: Final = 8
_NAMED: Final = 0.9
_OWN_LOCAL_BYTES: Final = 512
"""The 32 sums of a thread in the kernels of `cupy_cpu.generated`, of 16 bytes each at most: on a
device these are other threads' registers.
"""

Needs = Mapping[tuple[int, str], Mapping[str, int]]
"""What kernels need on a device, by the build that they are of and their name."""
ShownName = Callable[[str], str]
"""Returns what a report may show of a kernel's name or a parameter's; "" for nothing."""


@dataclass(slots=True)
class Count:
    """What counting gave: a message for each shape, and the run, judged like any other.

    `counts` is empty where a result is wrong, or the notes cannot be read. `counted` is what the
    report shows: the counts of the exercise's counted shape. `findings` are of NVIDIA's compiler:
    why a device would not run the kernels, nor those of earlier runs for want of registers.
    `refused` has the first of them for each call that launched such a kernel, by shape and
    direction; for want of registers it is each call that budgets are about.
    """

    execution: Execution
    cases: list[Case]
    counts: list[Counted] = field(default_factory=list)
    counted: Counted | None = None
    findings: list[Finding] = field(default_factory=list)
    refused: dict[tuple[tuple[int, ...], str], Finding] = field(default_factory=dict)

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
    """Run the counted cases, one for each shape; None if the exercise has none.

    Raises:
        SandboxError: the sandbox failed.
    """
    shapes = counted_shapes(exercise)
    if not shapes:
        return None
    cases = [counted_case(exercise, shape, rng) for shape in shapes]
    _, run = execute(exercise, source, cases, limits, zygote, on_case, builds=builds, counted=True)
    result = Count(judge_run(exercise, cases, run, limits), cases)
    result.execution.stop = adjusted(result.execution, builds)
    try:
        everything = read_notes(run.frames)
        noted = [_of_case(everything, number, case) for number, case in enumerate(cases)]
    except WireError:
        return result
    if result.passed:
        names = shown_names(source)
        result.counts = [
            _counted(exercise, case, of_case, builds, names)
            for case, of_case in zip(cases, noted, strict=True)
        ]
        result.counted = result.counts[0] if exercise.counted_shape else None
        remember(builds, everything, cases, shown=True)
        launches = refused_launches(source, builds)
        result.findings = [*_refused(source, everything, builds), *launches]
        result.refused = _refused_calls(exercise, source, cases, noted, builds)
        for budget in exercise.budgets if launches else ():
            # No matter where it was launched: no device runs the submission as a whole.
            result.refused.setdefault((budget.shape, budget.direction), launches[0])
    return result


def counted_shapes(exercise: Exercise) -> list[tuple[int, int]]:
    """Return the shapes that are counted, each once: the exercise's own, then those of budgets."""
    own = [exercise.counted_shape] if exercise.counted_shape else []
    return list(dict.fromkeys([*own, *(budget.shape for budget in exercise.budgets)]))


def counted_case(exercise: Exercise, shape: tuple[int, int], rng: np.random.Generator) -> Case:
    """Return the case: float32, contiguous, with parameters of its own."""
    checks = frozenset(exercise.results)
    script = ScriptBuilder(exercise, checks)
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
    exercise: Exercise, case: Case, noted: Sequence[Noted], builds: Builds, names: ShownName
) -> Counted:
    def shown(kernel: str) -> str:
        return names(kernel) or "kernel"

    # Generated kernels take longer to compile than to run: only budgets need their registers.
    needs = _needs(noted, builds, generated=bool(exercise.budgets))
    calls = [(item, _call(case, item, needs, shown)) for item in noted if _is_of_a_call(case, item)]
    rows, size = [row for _, row in calls], _array_bytes(case)
    said = [sentence for row in rows for sentence in advice.of_call(exercise, row, size)]
    for item in noted:
        said += _of_kernels(case, item, builds, shown)
    for item, row in calls:
        for kernel in item.notes.kernels[:MAX_KERNELS]:
            name = shown(kernel.name)
            told = _with_labels(kernel, names)
            said += advice.read_again(exercise, row, _of_one_launch(told), name, size)
            said += advice.narrow(exercise, row, told, name, _row_bytes(case))
    said += [sentence for row in rows for sentence in advice.of_resources(row)]
    return Counted(
        shape=list(case.shape), dtype=case.dtype.name, rows=rows, advice=said[:_MAX_ADVICE]
    )


def _of_kernels(case: Case, item: Noted, builds: Builds, shown: ShownName) -> Iterator[str]:
    """Yield which lines of the kernels of one call waste what they move."""
    direction = case.script.operations[item.position].kind
    for kernel in item.notes.kernels[:MAX_KERNELS]:
        request, name = builds.requests.get(kernel.build), shown(kernel.name)
        lines = request.source.count("\n") + 1 if request else 0
        yield from advice.of_accesses(direction, kernel, name, lines)


def _with_labels(kernel: KernelNote, names: ShownName) -> KernelNote:
    """Return a kernel with the names of its arrays as they may be shown, empty where not at all."""
    return _with_arrays(
        kernel, lambda array: array.model_copy(update={"label": names(array.label)})
    )


def _of_one_launch(kernel: KernelNote) -> KernelNote:
    """Return a kernel with what one launch at most read of each array: each may read it once."""
    return _with_arrays(
        kernel, lambda array: array.model_copy(update={"bytes_read": array.most_read})
    )


def _with_arrays(kernel: KernelNote, change: Callable[[ArrayTraffic], ArrayTraffic]) -> KernelNote:
    arrays = [change(array) for array in kernel.counters.arrays]
    counters = kernel.counters.model_copy(update={"arrays": arrays})
    return kernel.model_copy(update={"counters": counters})


def _needs(noted: Sequence[Noted], builds: Builds, *, generated: bool) -> Needs:
    """Return what NVIDIA's compiler says of the kernels that ran: each module is read once for them
    all, and its other kernels are left out.
    """
    return {
        (build, name): used
        for build, names in _ran(noted, generated=generated).items()
        for name, used in resources_of(builds.requests.get(build), names).items()
    }


def _refused(
    source: str, noted: Sequence[Noted], builds: Builds, *, generated: bool = False
) -> list[Finding]:
    """Return why NVIDIA's compiler refuses the kernels that ran, if it does."""
    found: list[Finding] = []
    for build, names in _ran(noted, generated=generated).items():
        request = builds.requests.get(build)
        if request is not None:
            found += of_devices_compiler(source, request, refusals_of(request, names))
    return found


def _refused_calls(
    exercise: Exercise,
    source: str,
    cases: Sequence[Case],
    noted: Sequence[Sequence[Noted]],
    builds: Builds,
) -> dict[tuple[tuple[int, ...], str], Finding]:
    """Return why a device would not run what calls launched, by shape and direction.

    Only budgets ask: what a kernel keeps in registers is counted by NVIDIA's compiler alone.
    """
    refused: dict[tuple[tuple[int, ...], str], Finding] = {}
    for case, of_case in zip(cases, noted, strict=True) if exercise.budgets else ():
        for item in of_case:
            found = _refused(source, [item], builds, generated=True)
            if found and _is_of_a_call(case, item):
                direction = case.script.operations[item.position].kind
                refused.setdefault((tuple(case.shape), direction), found[0])
    return refused


def _ran(noted: Sequence[Noted], *, generated: bool) -> dict[int, set[str]]:
    """Return the names of the learner's kernels that ran, by their build; with `generated` also of
    those that were written around expressions.
    """
    ran: dict[int, set[str]] = defaultdict(set)
    for item in noted:
        for kernel in item.notes.kernels[:MAX_KERNELS]:
            if generated or not kernel.generated:
                ran[kernel.build].add(kernel.name)
    return ran


def _call(case: Case, item: Noted, needs: Needs, shown: ShownName) -> CountedCall:
    direction = case.script.operations[item.position].kind
    counts = item.notes.counts
    assert counts is not None  # noqa: S101  the caller has looked
    cached_read = sum(_cached(kernel, case, "again_read") for kernel in item.notes.kernels)
    cached_written = sum(_cached(kernel, case, "again_written") for kernel in item.notes.kernels)
    return CountedCall(
        direction=direction,
        bytes_read=max(0, counts.bytes_read - cached_read),
        bytes_written=max(0, counts.bytes_written - cached_written),
        bytes_least=ARRAYS_MOVED[direction] * _array_bytes(case),
        launches=counts.launches,
        kernels=[
            _kernel(kernel, case, needs, shown) for kernel in item.notes.kernels[:MAX_KERNELS]
        ],
    )


def _array_bytes(case: Case) -> int:
    return math.prod(case.shape) * case.dtype.itemsize


def _row_bytes(case: Case) -> int:
    return case.shape[-1] * case.dtype.itemsize


def _cached(kernel: KernelNote, case: Case, again: str) -> int:
    """Return the bytes of a kernel's launches that a cache serves: small arrays, read again.

    An array without the rows' axis, such as gamma, stays in the cache while one launch runs; one of
    x's size does not.
    """
    small = _array_bytes(case) // 2
    return sum(getattr(array, again) for array in kernel.counters.arrays if array.nbytes < small)


def _kernel(kernel: KernelNote, case: Case, needs: Needs, shown: ShownName) -> KernelCounts:
    rows, counters = math.prod(case.shape[:-1]), kernel.counters
    used = needs.get((kernel.build, kernel.name), {})
    registers, outside = used.get("registers"), used.get("local_bytes")
    if kernel.generated:
        # The kernels that CuPy generates from the same expressions need other registers.
        registers, outside = None, outside if (outside or 0) > _OWN_LOCAL_BYTES else None
    shared = kernel.shared_mem + (used.get("shared_bytes") or 0)
    of_arrays = [a for a in counters.accesses if a.space == "global"]
    sectors = sum(a.sectors for a in of_arrays)
    ideal = sum(a.ideal_sectors for a in of_arrays)
    threads = math.prod(kernel.block)
    known = occupancy(threads, registers, shared) if registers and 0 < threads <= 1024 else None
    return KernelCounts(
        name=shown(kernel.name),
        launches=kernel.launches,
        grid=kernel.grid,
        block=kernel.block,
        shared_bytes=shared,
        barriers_per_row=round(counters.barriers / max(rows, 1), 3),
        coalescing=round(min(1.0, ideal / sectors), 4)
        if sectors and not kernel.generated
        else None,
        bank_conflicts=sum(a.bank_conflicts for a in counters.accesses if a.space == "shared"),
        registers=registers,
        spilled_bytes=outside,
        occupancy=round(known.share, 4) if known else None,
        occupancy_limit=known.limit if known else "",
        bytes_at_once=None if kernel.generated else _bytes_at_once(kernel, _row_bytes(case)),
    )


def _bytes_at_once(kernel: KernelNote, row_bytes: int) -> float | None:
    """Return the average bytes of a thread's load or store, for the array where it is smallest.

    Arrays shorter than a row, such as one sum for each row, take no wide loads and are left out.
    None if much of the traffic is not an argument's, for example reached by a table of addresses.
    """
    counters = kernel.counters
    known = sum(array.bytes_read + array.bytes_written for array in counters.arrays)
    if known < _NAMED * (counters.global_bytes_read + counters.global_bytes_written):
        return None
    arrays = [array for array in counters.arrays if array.nbytes >= row_bytes]
    least = min((array.at_once for array in arrays if array.at_once is not None), default=None)
    return None if least is None else round(min(advice.WIDEST, least), 2)


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
