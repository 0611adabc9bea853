"""Launching a kernel: what a device would refuse is refused, what it does is done and watched."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from . import abi, wording
from .argument_checks import check_arguments
from .arguments import PackedArguments, Parameter, Pointer
from .counters import Access, ArrayTraffic, Counters, merged
from .diagnostics import Diagnostic, LaunchError
from .kinds import Kind, Severity
from .limits import DEFAULT_SHARED_BYTES, Dimensions, check_size, dimensions
from .memory import Allocation, Memory

if TYPE_CHECKING:
    from .module import Module

Order = Literal["forward", "reverse", "random"]
ORDERS: Final[tuple[Order, ...]] = ("forward", "reverse", "random")
STEP_LIMIT: Final = 4_000_000_000
OUTPUT_BYTES: Final = 64 * 1024
WATCHED_GRANULES: Final = 4 << 20
"""Device memory of more than so many elements is not watched for races between threads: it would
take sixteen bytes for each."""

_serial = itertools.count(1)


@dataclass(slots=True)
class LaunchReport:
    """What a launch did. `output` is what the kernel printed."""

    kernel: str
    grid: Dimensions
    block: Dimensions
    shared_mem: int
    counters: Counters = field(default_factory=Counters)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    output: str = ""
    float_atomics: int = 0


class Kernel:
    """One kernel of a module. `parameters` are those of its source."""

    def __init__(
        self, module: Module, name: str, call: int, address: int, parameters: tuple[Parameter, ...]
    ) -> None:
        self._module = module
        self._call = call
        self.name = name
        self.address = address
        self.parameters = parameters
        self._dynamic_limit: int | None = None

    @property
    def shared_size_bytes(self) -> int:
        """Its static shared memory."""
        return self._module.static_shared_bytes(self.address)

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """How much dynamic shared memory a launch may ask for; may be set up to 227 KB in sum."""
        if self._dynamic_limit is None:
            return DEFAULT_SHARED_BYTES - self.shared_size_bytes
        return self._dynamic_limit

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, value: int) -> None:
        self._dynamic_limit = int(value)

    @property
    def attributes(self) -> dict[str, Any]:
        """What is known of the kernel without running it."""
        return {
            "shared_size_bytes": self.shared_size_bytes,
            "max_dynamic_shared_size_bytes": self.max_dynamic_shared_size_bytes,
            "max_threads_per_block": 1024,
            "parameters": [(p.name, p.text or p.type_name, p.size) for p in self.parameters],
        }

    def launch(
        self,
        grid: Sequence[int] | int,
        block: Sequence[int] | int,
        args: Sequence[object],
        shared_mem: int = 0,
        *,
        memory: Memory,
        order: Order = "forward",
        orders: Sequence[Order] = (),
        seed: int = 0,
        blocks: tuple[int, int] | None = None,
        step_limit: int = STEP_LIMIT,
    ) -> LaunchReport:
        """Run the kernel over a grid, thread by thread.

        `args` as CuPy's; arrays as `Pointer`. With `orders` the launch is run once in each, on
        the same memory, and the results are compared bit for bit; those of the first stay.
        `blocks` (first, count) runs a part of the grid only.

        Raises:
            LaunchError: a device would refuse the launch, or could not go on with it.
            TypeError: an argument is of a kind that no kernel takes.
        """
        plan = _Plan(self, dimensions(grid), dimensions(block), args, shared_mem, memory)
        plan.check()
        if len(orders) > 1:
            return plan.run_in_orders(orders, seed, step_limit)
        return plan.run(orders[0] if orders else order, seed, step_limit, blocks)


class _Plan:
    """One launch, checked and ready to be run, once or several times."""

    def __init__(
        self,
        kernel: Kernel,
        grid: Dimensions,
        block: Dimensions,
        args: Sequence[object],
        shared_mem: int,
        memory: Memory,
    ) -> None:
        self.kernel, self.grid, self.block = kernel, grid, block
        self.args, self.shared_mem, self.memory = args, shared_mem, memory
        self.packed = PackedArguments(args, kernel.parameters)
        self.warnings: list[Diagnostic] = []

    def check(self) -> None:
        """Raise LaunchError for what a device would refuse or misread."""
        kernel = self.kernel
        found = check_size(
            kernel.name, self.grid, self.block, kernel.shared_size_bytes, self.shared_mem,
            kernel.max_dynamic_shared_size_bytes,
        )  # fmt: skip
        found += check_arguments(kernel.name, self.args, kernel.parameters)
        if any(item.severity is Severity.ERROR for item in found):
            raise LaunchError(found)
        self.warnings = found

    def run_in_orders(self, orders: Sequence[Order], seed: int, step_limit: int) -> LaunchReport:
        """Run in each order from the same memory, compare, and keep the first's result."""
        reachable = self._writable()
        before = [(a, a.bytes.copy(), _copy(a.written_map)) for a in reachable]
        reports, results = [], []
        for order in orders:
            for allocation, content, written in before:
                allocation.bytes[:] = content
                if written is not None and allocation.written_map is not None:
                    allocation.written_map[:] = written
            reports.append(self.run(order, seed, step_limit))
            results.append([(a.bytes.copy(), _copy(a.written_map)) for a in reachable])
        for allocation, (content, written) in zip(reachable, results[0], strict=True):
            allocation.bytes[:] = content
            if written is not None and allocation.written_map is not None:
                allocation.written_map[:] = written
        first = reports[0]
        for report in reports[1:]:
            known = {(item.kind, item.line) for item in first.diagnostics}
            first.diagnostics += [d for d in report.diagnostics if (d.kind, d.line) not in known]
        self._compare(first, reachable, results)
        return first

    def run(
        self, order: Order, seed: int, step_limit: int, blocks: tuple[int, int] | None = None
    ) -> LaunchReport:
        """Run once."""
        output = ctypes.create_string_buffer(OUTPUT_BYTES)
        kept: list[NDArray[Any]] = []
        buffers = self._buffers(kept)
        launch = abi.Launch(
            version=abi.VERSION,
            order=ORDERS.index(order),
            seed=seed & (1 << 64) - 1,
            kernel=self.kernel._call,
            arguments=ctypes.addressof(self.packed.pointers),
            grid=self.grid,
            block=self.block,
            dynamic_shared_bytes=self.shared_mem,
            buffers=buffers,
            buffer_count=len(self.memory.known()),
            step_limit=step_limit,
            output=ctypes.addressof(output),
            output_capacity=OUTPUT_BYTES - 1,
        )
        total = self.grid[0] * self.grid[1] * self.grid[2]
        launch.first_block, launch.block_count = blocks or (0, total)
        self.kernel._module.run(launch)
        report = self._report(launch, output.raw[: launch.output_bytes])
        if launch.fatal:
            fatal = [d for d in report.diagnostics if d.severity is Severity.ERROR]
            raise LaunchError(fatal or report.diagnostics, report)
        return report

    def _buffers(self, kept: list[NDArray[Any]]) -> ctypes.Array[abi.Buffer]:
        """Return the table of device memory; `kept` holds what it points to."""
        known = self.memory.known()
        # What a kernel takes through pointers to const alone cannot be raced for.
        writable = {allocation.address for allocation in self._writable()}
        sizes = {start: size for start, size in self._element_sizes().items() if start in writable}
        table = (abi.Buffer * max(1, len(known)))()
        for entry, allocation in zip(table, known, strict=False):
            entry.start, entry.end = allocation.address, allocation.end
            entry.freed = allocation.freed
            if allocation.written_map is not None and not allocation.freed:
                entry.written = allocation.written_map.ctypes.data
            size = sizes.get(allocation.address, 0)
            granules = -(-allocation.nbytes // max(size, 1))
            if size > 1 and 0 < granules <= WATCHED_GRANULES:
                hazards = np.zeros(2 * granules, np.uint64)
                kept.append(hazards)
                entry.hazards = hazards.ctypes.data
                entry.granule_shift = size.bit_length() - 1
        return table

    def _element_sizes(self) -> dict[int, int]:
        """Return the size of the elements of each allocation that is passed, as the kernel has it."""
        sizes: dict[int, int] = {}
        for value, parameter in zip(self.args, self.kernel.parameters, strict=True):
            allocation = self._allocation_of(value)
            if allocation is None:
                continue
            own = (
                np.dtype(value.dtype).itemsize
                if isinstance(value, Pointer) and value.dtype is not None
                else 0
            )
            size = own or parameter.pointee_size
            if size in (1, 2, 4, 8):
                sizes[allocation.address] = min(size, sizes.get(allocation.address, 8))
        return sizes

    def _allocation_of(self, value: object) -> Allocation | None:
        if isinstance(value, Pointer):
            return self.memory.find(value.address)
        if isinstance(value, int | np.integer) and int(value) > 0xFFFF:
            return self.memory.find(int(value))
        return None

    def _writable(self) -> list[Allocation]:
        """Return the allocations that arguments point to, other than through `const` pointers."""
        found: dict[int, Allocation] = {}
        for value, parameter in zip(self.args, self.kernel.parameters, strict=True):
            allocation = self._allocation_of(value)
            if allocation is not None and not parameter.pointee_const and not allocation.freed:
                found[allocation.address] = allocation
        return list(found.values())

    def _report(self, launch: abi.Launch, output: bytes) -> LaunchReport:
        words = wording.Words(
            self.kernel, self._module, self.memory, self.args, self.grid, self.block
        )
        words.shared_mem = self.shared_mem
        found = [words.describe(launch.findings[i]) for i in range(launch.finding_count)]
        unique: dict[tuple[Kind, int | None], Diagnostic] = {}
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
            float_atomics=launch.float_atomics,
        )

    @property
    def _module(self) -> Module:
        return self.kernel._module

    def _counters(self, launch: abi.Launch) -> Counters:
        accesses = tuple(
            Access(
                line=self._module.line_of([site.frame]),
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
        by_start = {entry.start: entry for entry in launch.buffers[: launch.buffer_count]}
        found, seen = [], set()
        for place, (value, parameter) in enumerate(
            zip(self.args, self.kernel.parameters, strict=True)
        ):
            allocation = self._allocation_of(value)
            if allocation is None or allocation.address in seen:
                continue
            seen.add(allocation.address)
            entry = by_start[allocation.address]
            label = parameter.name or f"argument {place + 1}"
            found.append(
                ArrayTraffic(place, label, allocation.nbytes, entry.bytes_read, entry.bytes_written)
            )
        return tuple(found)

    def _compare(
        self,
        report: LaunchReport,
        reachable: list[Allocation],
        results: list[list[tuple[NDArray[np.uint8], Any]]],
    ) -> None:
        for place, allocation in enumerate(reachable):
            first = results[0][place][0]
            for other in results[1:]:
                different = np.flatnonzero(first != other[place][0])
                if different.size:
                    words = wording.Words(
                        self.kernel, self._module, self.memory, self.args, self.grid, self.block
                    )
                    offset = int(different[0])
                    report.diagnostics.append(
                        words.order_dependent(allocation, offset, report.float_atomics)
                    )
                    break


def _copy(array: NDArray[np.uint8] | None) -> NDArray[np.uint8] | None:
    return None if array is None else array.copy()
