"""Finds launches that a device would refuse because a block needs too many registers.

NVIDIA's compiler says how many a thread needs; it is run only for kernels with large blocks.
The block sizes come from the runner, so they can only take an acceptance away.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gpu_worker.cupy_cpu.executor.defects import Defect
from gpu_worker.judge.cases.case import Case, describe
from gpu_worker.judge.kernels.findings import shown_names, wrote
from gpu_worker.judge.kernels.occupancy import REGISTERS, most_threads, registers_of_block
from gpu_worker.judge.running.builds import Builds, LargeLaunch, resources_of
from gpu_worker.judge.verdict.notes import Noted
from gpu_worker.messages.protocol import Finding
from gpu_worker.sandbox.inside.building import BuildRequest

SMALL: Final = 256
"""Threads of a block that has registers enough for the most that a thread can have, 255."""
_MOST_KERNELS: Final = 256
_MOST_BUILDS: Final = 8
_NUMBER: Final = re.compile(r"\d+")
_REFUSED: Final = '"too many resources requested for launch"'


@dataclass(frozen=True, slots=True)
class _TooMany:
    request: BuildRequest
    name: str
    launch: LargeLaunch
    registers: int


def remember(builds: Builds, noted: Sequence[Noted], cases: Sequence[Case], *, shown: bool) -> None:
    """Keep the largest block of each of the learner's kernels, of a run with these cases.

    `shown`: nothing of it is secret, as in public cases.
    """
    for item in noted:
        case = cases[item.case] if item.case < len(cases) else None
        for kernel in () if case is None else item.notes.kernels:
            threads = math.prod(kernel.block)
            request = builds.requests.get(kernel.build)
            if request is None or kernel.generated or threads <= SMALL:
                continue
            assert case is not None  # noqa: S101  there are no kernels otherwise
            key = (request, kernel.name)
            known = builds.large.get(key)
            is_larger = known is not None and threads > known.threads
            if is_larger or (known is None and len(builds.large) < _MOST_KERNELS):
                columns = case.shape[-1] if case.shape else 1
                builds.large[key] = LargeLaunch(threads, columns, describe(case), shown)


def refused_launches(source: str, builds: Builds) -> list[Finding]:
    """Return an error for each kernel that was launched with too many threads for its registers.

    Nothing where NVIDIA's compiler is missing, or refuses the source.
    """
    name = shown_names(source)
    return [
        Finding(
            kind=Defect.LAUNCH_SIZE,
            severity="error",
            kernel=name(item.name),
            line=None,
            kernel_line=None,
            message=_message(source, item),
            case=item.launch.case[:4_000],
        )
        for item in _too_many(builds)
    ]


def _too_many(builds: Builds) -> Iterator[_TooMany]:
    """Yield those kernels. Of many builds, those with the largest blocks and rows are looked at:
    a thread holds most where a row is long.
    """
    by_build: dict[BuildRequest, dict[str, LargeLaunch]] = defaultdict(dict)
    ranked = sorted(
        builds.large.items(), key=lambda item: (item[1].threads, item[1].columns), reverse=True
    )
    for (request, name), launch in ranked:
        by_build[request][name] = launch
    for request, launches in list(by_build.items())[:_MOST_BUILDS]:
        needs = resources_of(request, launches)
        for name, launch in launches.items():
            registers = needs.get(name, {}).get("registers", 0)
            if registers_of_block(launch.threads, registers) > REGISTERS:
                yield _TooMany(request, name, launch, registers)


def in_numbers(threads: int, registers: int) -> str:
    """Return what is wrong with a launch and what to do, empty if it has registers enough."""
    total = registers_of_block(threads, registers)
    if total <= REGISTERS:
        return ""
    return (
        f"A device refuses a block of {threads:,} threads of this kernel ({_REFUSED}): NVIDIA's "
        f"compiler gives each thread {registers} registers. As they are shared out, {threads:,} "
        f"threads take {total:,}, and a block has at most {REGISTERS:,}: enough for "
        f"{most_threads(registers):,} threads. {_to_do(f'{threads}')}"
    )


def _message(source: str, item: _TooMany) -> str:
    """Return what is wrong and what to do; no number that could be a hidden input's."""
    threads, own = item.launch.threads, wrote(source, item.request)
    if item.launch.shown or (own and str(threads) in _NUMBER.findall(source)):
        return in_numbers(threads, item.registers)
    if own:
        return (
            f"A device refuses so large a block of this kernel ({_REFUSED}): NVIDIA's compiler "
            f"gives each thread {item.registers} registers, and the {REGISTERS:,} that a block has "
            f"at most are enough for {most_threads(item.registers):,} threads. "
            f"{_to_do('N')} N is the number of threads in its largest block."
        )
    return (
        f"A device refuses so large a block of this kernel ({_REFUSED}): with the registers that "
        f"NVIDIA's compiler gives each thread, its threads take more than the {REGISTERS:,} that a "
        f"block has at most. {_to_do('N')} N is the number of threads in its largest block."
    )


def _to_do(bound: str) -> str:
    return (
        f"Mark the kernel __launch_bounds__({bound}), so that the compiler keeps to fewer; or "
        "launch fewer threads, or hold fewer values in each."
    )
