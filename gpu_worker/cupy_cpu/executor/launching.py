"""One launch: refuses what a device would refuse, then runs the kernel and watches its accesses."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from . import abi
from .argument_checks import check_arguments
from .arguments import ArrayStructure, PackedArguments, Parameter, Pointer, addresses
from .counters import Access, ArrayTraffic, Counters, merged
from .defects import Defect, Native, Severity, cause_rank
from .diagnostics import Diagnostic
from .formatter import Formatter
from .function import Function
from .limits import Dimensions, check_size
from .memory import Allocation, Memory
from .report import ORDERS, LaunchError, LaunchReport, Order
from .snapshot import Snapshot
from .variables import Reachable

STEP_LIMIT: Final = 4_000_000_000
OUTPUT_BYTES: Final = 64 * 1024
MOST_ARRAYS: Final = 64
"""How many arrays are listed with their traffic."""
WATCHED_GRANULES: Final = 4 << 20
"""Device memory of more than so many elements is not watched for races between threads: it would
take sixteen bytes for each."""


class Launching:
    """One launch, checked and ready to be run, once or several times."""

    def __init__(
        self,
        kernel: Function,
        grid: Dimensions,
        block: Dimensions,
        args: Sequence[object],
        shared_mem: int,
        memory: Memory,
    ) -> None:
        self.kernel, self.grid, self.block = kernel, grid, block
        self.args, self.shared_mem = args, shared_mem
        variables = kernel.library.variables
        self.memory = Reachable(memory, variables) if variables else memory
        self.packed = PackedArguments(args, kernel.parameters)
        self.warnings: list[Diagnostic] = []
        self._places: dict[int, int] = {}
        self._wrote: set[Allocation] = set()
        """Those that it wrote of the arrays that nobody had filled."""

    def check(self) -> None:
        """Raise LaunchError for what a device would refuse or misread."""
        kernel = self.kernel
        found = check_size(
            kernel.name, self.grid, self.block, kernel.shared_size_bytes, self.shared_mem,
            kernel.max_dynamic_shared_size_bytes, kernel.launch_bound,
        )  # fmt: skip
        found += check_arguments(kernel.name, self.args, kernel.parameters)
        found.sort(key=lambda item: item.severity is not Severity.ERROR)
        if found and found[0].severity is Severity.ERROR:
            raise LaunchError(found)
        self.warnings = found

    def run(
        self,
        order: Order,
        seed: int,
        step_limit: int,
        blocks: tuple[int, int] | None = None,
        snapshot: Snapshot | None = None,
    ) -> LaunchReport:
        """Run once; `snapshot` is told what was written that no argument tells of."""
        output = ctypes.create_string_buffer(OUTPUT_BYTES)
        kept: list[NDArray[Any]] = []
        buffers = self._buffers(kept)
        known = self.memory.known()
        if snapshot:
            snapshot.watch(buffers, known)
        launch = abi.Launch(
            version=abi.VERSION,
            order=ORDERS.index(order),
            seed=seed & (1 << 64) - 1,
            kernel=self.kernel.call,
            arguments=ctypes.addressof(self.packed.pointers),
            grid=self.grid,
            block=self.block,
            dynamic_shared_bytes=self.shared_mem,
            buffers=buffers,
            buffer_count=len(known),
            step_limit=step_limit,
            shared_ends=self.kernel.shared_ends.ctypes.data,
            output=ctypes.addressof(output),
            output_capacity=OUTPUT_BYTES - 1,
        )
        total = self.grid[0] * self.grid[1] * self.grid[2]
        launch.first_block, launch.block_count = blocks or (0, total)
        self.kernel.library.run(launch)
        if snapshot:
            snapshot.take(buffers, self.kernel.library)
        self._wrote.update(
            allocation
            for place, allocation in enumerate(known)
            if allocation.written_map is not None and buffers[place].bytes_written
        )
        report = self._report(launch, output.raw[: launch.output_bytes])
        if launch.fatal:
            fatal = [d for d in report.diagnostics if d.severity is Severity.ERROR]
            fatal.sort(key=_rank)
            raise LaunchError(fatal or report.diagnostics, report)
        return report

    def _buffers(self, kept: list[NDArray[Any]]) -> ctypes.Array[abi.Buffer]:
        """Return the table of device memory; `kept` holds what it points to."""
        known = self.memory.known()
        rows = [allocation.row for allocation in known]
        table = (abi.Buffer * max(1, len(known)))()
        ctypes.memmove(table, b"".join(rows), len(known) * abi.BUFFER.size)
        self._places = {allocation.address: place for place, allocation in enumerate(known)}
        # There is no race for memory that a kernel only reaches through pointers to const.
        writable = {allocation.address for allocation in self.writable()}
        sizes = {start: size for start, size in self._element_sizes().items() if start in writable}
        for start, size in sizes.items():
            place = self._places[start]
            granules = -(-known[place].nbytes // size)
            if size > 1 and 0 < granules <= WATCHED_GRANULES:
                hazards = np.zeros(2 * granules, np.uint64)
                kept.append(hazards)
                table[place].hazards = hazards.ctypes.data
                table[place].granule_shift = size.bit_length() - 1
        return table

    def _element_sizes(self) -> dict[int, int]:
        """Return the size of the elements of each allocation that is passed."""
        sizes: dict[int, int] = {}
        for value, parameter in zip(self.args, self.kernel.parameters, strict=True):
            allocation = self._allocation_of(value)
            if allocation is None:
                continue
            size = _element_size(value, parameter)
            if size in (1, 2, 4, 8):
                sizes[allocation.address] = min(size, sizes.get(allocation.address, 8))
        for variable in self.kernel.library.variables:
            if variable.granule in (1, 2, 4, 8):
                sizes.setdefault(variable.address, variable.granule)
        return sizes

    def _allocation_of(self, value: object) -> Allocation | None:
        if isinstance(value, Pointer):
            return self.memory.find(value.address)
        if isinstance(value, ArrayStructure):
            return self.memory.find(value.address) if value.shared else None
        if isinstance(value, int | np.integer) and int(value) > 0xFFFF:
            return self.memory.find(int(value))
        return None

    def writable(self) -> list[Allocation]:
        """Return the allocations that arguments point to, other than through `const` pointers, and
        the module's variables.
        """
        found: dict[int, Allocation] = {
            variable.address: variable
            for variable in self.kernel.library.variables
            if not variable.constant
        }
        for value, parameter in zip(self.args, self.kernel.parameters, strict=True):
            allocation = self._allocation_of(value)
            if allocation is not None and not parameter.pointee_const and not allocation.freed:
                found[allocation.address] = allocation
        return list(found.values())

    def sign(self, report: LaunchReport) -> None:
        """Have the arrays that the launch wrote know it by its report."""
        for allocation in self._wrote:
            allocation.writer = report

    def formatter(self) -> Formatter:
        """Return the formatter of this launch's defects."""
        return Formatter(
            self.kernel, self.memory, self.args, self.grid, self.block, self.shared_mem
        )

    def _report(self, launch: abi.Launch, output: bytes) -> LaunchReport:
        formatter = self.formatter()
        records = [
            each for each in launch.defects[: launch.defect_count] if not self._is_meant(each)
        ]
        formatter.look_at(records)
        found = [formatter.describe(record) for record in records]
        unique: dict[tuple[Defect, int | None], Diagnostic] = {}
        for item in found:
            unique.setdefault((item.kind, item.line), item)
        return LaunchReport(
            kernel=self.kernel.name,
            grid=self.grid,
            block=self.block,
            shared_mem=self.shared_mem,
            counters=self._counters(launch),
            diagnostics=[*self.warnings, *unique.values()],
            output=output.decode("utf-8", "replace"),
        )

    def _is_meant(self, record: abi.DefectRecord) -> bool:
        """Say whether what looks like a defect is deliberate.

        An index beyond a known length may have led into a larger variable: on its line the thread
        then accessed shared memory, or a variable of the module. A thread that others did not wait
        for may have returned before the barrier, and not gone on behind it.
        """
        beyond = record.kind == Native.OUT_OF_BOUNDS and record.detail[1]
        missed = record.kind == Native.DIVERGENT_BARRIER and record.detail[3]
        if not (beyond or missed) or not record.other_frame:
            return False
        line = record.other_line or self.kernel.library.line_of([record.other_frame])
        if missed:
            lines = self.kernel.lines
            return not (record.line in lines and line in lines and line > record.line)
        return bool(line == record.line)

    def _counters(self, launch: abi.Launch) -> Counters:
        accesses = tuple(
            Access(
                line=self.kernel.library.line_of([site.frame]),
                space="shared" if site.shared else "global",
                write=bool(site.write),
                bytes=site.bytes,
                requests=site.requests,
                sectors=site.sectors,
                ideal_sectors=site.ideal_sectors,
                bank_conflicts=site.bank_conflicts,
            )
            for site in launch.sites[: launch.site_count]
        )
        grid, block = self.grid, self.block
        return Counters(
            launches=1,
            threads=grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2],
            barriers=launch.barriers,
            warp_barriers=launch.warp_barriers,
            atomics=launch.atomics,
            global_bytes_read=launch.global_read,
            global_bytes_written=launch.global_written,
            shared_bytes_read=launch.shared_read,
            shared_bytes_written=launch.shared_written,
            accesses=merged(accesses),
            arrays=self._traffic(launch),
        )

    def _traffic(self, launch: abi.Launch) -> tuple[ArrayTraffic, ...]:
        found, seen = [], set()
        for place, (value, parameter) in enumerate(
            zip(self.args, self.kernel.parameters, strict=True)
        ):
            label = parameter.name or f"argument {place + 1}"
            for member, allocation in self._arrays_of(value):
                if allocation.address in seen:
                    continue
                seen.add(allocation.address)
                entry = launch.buffers[self._places[allocation.address]]
                size, read, written = allocation.nbytes, entry.bytes_read, entry.bytes_written
                found.append(
                    ArrayTraffic(
                        place=place,
                        label=label + member,
                        nbytes=size,
                        bytes_read=read,
                        bytes_written=written,
                        reads=entry.reads,
                        writes=entry.writes,
                        again_read=max(0, read - size),
                        again_written=max(0, written - size),
                        most_read=read,
                    )
                )
        return tuple(found[:MOST_ARRAYS])

    def _arrays_of(self, value: object) -> Iterator[tuple[str, Allocation]]:
        """Yield the arrays that an argument brings, each with the name of the structure's member
        that holds its address.
        """
        if isinstance(value, np.void):
            named = [("." + name, address) for name, address in addresses(value)]
        elif isinstance(value, ArrayStructure):
            named = [("", value.address)]
        else:
            allocation = self._allocation_of(value)
            named = [("", allocation.address)] if allocation else []
        for name, address in named:
            allocation = self.memory.find(address)
            if allocation:
                yield name, allocation


def _rank(diagnostic: Diagnostic) -> int:
    return cause_rank(diagnostic.kind)


def _element_size(value: object, parameter: Parameter) -> int:
    if isinstance(value, Pointer) and value.dtype is not None:
        return int(np.dtype(value.dtype).itemsize)
    if isinstance(value, ArrayStructure):
        return value.itemsize
    return parameter.pointee_size
