"""Formats what the runtime found as diagnostics: what happened, where, and how to fix it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from . import abi
from .defects import WARNINGS, Defect, Native, Severity
from .diagnostics import Diagnostic
from .function import Function
from .limits import Dimensions
from .memory import Allocation, Memory
from .symbolizer import Symbolizer
from .variables import Reachable

_WARP: Final = 32
_RETURNED: Final = 2

# How to fix a defect: sentences that several defects share, or long ones.
_SUM_IN_A_BLOCK: Final = (
    "For the same bits each time, add up in a fixed order: by shuffles within each warp and then "
    "over the warps' sums, or by a tree in shared memory with __syncthreads() between its steps."
)
_SUM_OVER_BLOCKS: Final = (
    "For the same bits each time, let each block write its part and add the parts in a fixed order "
    "in a second kernel."
)
_IN_A_LOOP: Final = (
    "Where one stands there already, the thread that writes is ahead, in the next pass of a loop: "
    "put one at the end of the loop too."
)
_ORDERS: Final = (
    "On a device that order changes from run to run. Either a barrier is missing between a write "
    "and a read of the same memory, or several threads write different values to one place, or a "
    "variable is read that was given no value: it holds what another thread left there."
)
_WAITING: Final = (
    "Blocks run one after another here, so a loop that waits for another block never ends; nor "
    "does one that waits for a thread of its own block, unless it has a barrier or an atomic "
    "operation in it, nor one whose counter stands still."
)
_BEYOND_LOCAL: Final = (
    "Behind it lie other variables of the thread. Make the array as long as the loop over it, or "
    "end the loop where the array ends."
)
_OVERFLOW: Final = (
    "What comes of it is undefined. If it is an index: one of N*D elements passes 2**31 sooner "
    "than one thinks, so compute it in 64 bits, `(long long)row * D + j`."
)


class Formatter:
    """Describes the defects that one launch recorded."""

    def __init__(
        self, kernel: Function, memory: Memory | Reachable, args: Sequence[object],
        grid: Dimensions, block: Dimensions, shared_mem: int,
    ) -> None:  # fmt: skip
        self.kernel, self.library, self.memory = kernel, kernel.library, memory
        self.grid, self.block, self.shared_mem = grid, block, shared_mem
        self.symbols = Symbolizer(kernel, memory, args)
        self._crossed: set[str] = set()

    def describe(self, record: abi.DefectRecord) -> Diagnostic:
        """Return the diagnostic of one record."""
        native = Native(record.kind)
        kind, message = _DESCRIBED[native](self, record)
        line = self._line(record)
        severity = Severity.WARNING if kind in WARNINGS else Severity.ERROR
        detail = {"thread": list(record.thread), "block": list(record.block)}
        return Diagnostic(kind, severity, self.kernel.name, line, message, detail)

    def _line(self, record: abi.DefectRecord) -> int | None:
        frames = [frame for frame in record.frames if frame]
        return record.line or self.library.line_of(frames)

    def order_dependent(self, allocation: Allocation, offset: int) -> Diagnostic:
        """Return what it means that two orders of threads gave two results."""
        place = self.symbols.element(allocation, offset, 1)
        message = (
            f"The result depends on the order in which threads run, first at {place}. {_ORDERS}"
        )
        return self._of(Defect.ORDER_DEPENDENT, Severity.ERROR, message)

    def _of(self, kind: Defect, severity: Severity, message: str) -> Diagnostic:
        return Diagnostic(kind, severity, self.kernel.name, None, message)

    # --- words for places -------------------------------------------------------------------------
    def _thread(self, record: abi.DefectRecord) -> str:
        thread, block = _index(record.thread, self.block), _index(record.block, self.grid)
        return f"thread {thread} of block {block}"

    def _numbered(self, linear: int) -> str:
        x, y, _ = self.block
        return f"thread {_index((linear % x, linear // x % y, linear // (x * y)), self.block)}"

    # --- one function per kind --------------------------------------------------------------------
    def out_of_bounds(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        kind = Defect.OUT_OF_BOUNDS_WRITE if record.write else Defect.OUT_OF_BOUNDS_READ
        verb = "writes" if record.write else "reads"
        if record.detail[1]:
            return kind, (
                f"{self._thread(record).capitalize()} takes element {record.detail[0]} of an "
                f"array of {record.detail[1]}. {_BEYOND_LOCAL}"
            )
        who = f"{self._thread(record).capitalize()} {verb} {record.size} bytes"
        shared = ""
        if self.symbols.is_shared(record.address):
            shared = self.symbols.shared_byte(record.address)
        if shared:
            return kind, f"{who} outside of shared memory, at {shared}. {self._shared_advice()}"
        nearest = self.memory.find(record.address) or self.memory.nearest(record.address)
        if nearest is None:
            return kind, f"{who} at an address that belongs to no array."
        label, itemsize = self.symbols.array(nearest)
        index = (record.address - nearest.address) // itemsize
        count = nearest.nbytes // itemsize
        place = self.symbols.element(nearest, index * itemsize, itemsize)
        beyond = "before its first element" if index < 0 else "past its end"
        if abs(index) > 4 * max(count, 1 << 16):
            return kind, (
                f"{who} at an address that belongs to no array; the nearest is {label}. An index "
                "that was computed wrong, or overflowed, gives such addresses."
            )
        return kind, (
            f"{who} at {place}, {beyond}: {label} has {count} elements. Threads whose "
            "index is not below the number of elements must do nothing: `if (i < n)`."
        )

    def _shared_advice(self) -> str:
        return (
            f"The launch gives {self.shared_mem} bytes of dynamic shared memory (shared_mem=...), "
            f"and the kernel's own arrays have {self.kernel.shared_size_bytes}."
        )

    def misaligned(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        verb = "uses" if record.detail[0] else "writes" if record.write else "reads"
        place = self.symbols.at(record.address, record.size)
        return Defect.MISALIGNED, (
            f"{self._thread(record).capitalize()} {verb} {record.size} bytes at once at {place}, "
            f"an address that is no multiple of {record.size}. A device stops with "
            '"misaligned address". A row begins at such an address where its length is no '
            "multiple of the vector's, and so does a view that is offset: use the vector path "
            "only where D and the addresses divide, and single elements elsewhere."
        )

    def freed(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        verb = "writes to" if record.write else "reads"
        allocation = self.memory.find(record.address)
        label = self.symbols.array(allocation)[0] if allocation else "memory"
        return Defect.READ_AFTER_FREE, (
            f"{self._thread(record).capitalize()} {verb} {label}, an array that has already been "
            "freed. Python frees an array when its last name goes: keep it in a variable until "
            "the kernel has run; an address from .data.ptr alone does not keep it."
        )

    def null_pointer(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        verb = "writes" if record.write else "reads"
        return Defect.NULL_POINTER, (
            f"{self._thread(record).capitalize()} {verb} through a null pointer (address "
            f"{record.address}). Was 0 passed where an array belongs, or an empty array?"
        )

    def other_stack(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        return Defect.OTHER_STACK, (
            f"{self._thread(record).capitalize()} uses the address of another thread's local "
            "variable. Locals belong to one thread: pass values through shared memory or shuffles."
        )

    def missing_barrier(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        here = "writes" if record.write else "reads"
        there = "wrote" if record.detail[0] else "read"
        place = self.symbols.shared(record.address)
        line = record.other_line or self.library.line_of([record.other_frame])
        at = f" on line {line}" if line else ""
        crossed = self.symbols.shared_array(record.address) in self._crossed
        same_warp = bool(record.detail[1]) and not crossed
        advice = (
            "Both are in one warp, but lanes do not run in step: put __syncwarp() between, or use "
            "a shuffle."
            if same_warp
            else "Put __syncthreads() between the two."
        )
        own = self._line(record)
        write, read = (own, line) if record.write else (line, own)
        if write and read and write < read:
            advice = f"{advice} {_IN_A_LOOP}"
        return Defect.MISSING_BARRIER, (
            f"{self._thread(record).capitalize()} {here} {place}, which "
            f"{self._numbered(record.other_thread)} {there}{at}, and no barrier lies between: on "
            f"a device either may come first. {advice}"
        )

    def look_at(self, found: Sequence[abi.DefectRecord]) -> None:
        """Note what the records of one launch say together, before each is described."""
        self._crossed = {
            self.symbols.shared_array(record.address)
            for record in found
            if record.kind == Native.MISSING_BARRIER and not record.detail[1]
        }

    def divergent_barrier(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        whole_block = bool(record.detail[0])
        other = self._numbered(record.other_thread)
        own_mask, other_mask = (record.detail[n] & 0xFFFFFFFF for n in (1, 2))
        if record.detail[3]:
            line = record.other_line or self.library.line_of([record.other_frame])
            elsewhere = f"{other} passes it by and goes on, to line {line}"
        elif not whole_block and record.other_line == record.line and own_mask != other_mask:
            elsewhere = f"{other} has the mask 0x{other_mask:08x} there, not 0x{own_mask:08x}"
        elif record.other_line == record.line:
            elsewhere = f"{other} waits there for other lanes"
        elif record.other_line:
            elsewhere = f"{other} waits on line {record.other_line}"
        else:
            elsewhere = "others never come"
        if whole_block:
            return Defect.DIVERGENT_BARRIER, (
                f"{self._thread(record).capitalize()} waits at this barrier, but {elsewhere}. All "
                "threads of a block that have not returned must reach the same barrier, or a "
                "device hangs or computes junk: take the barrier out of the `if`, and let threads "
                "without work skip the work, not the barrier."
            )
        return Defect.DIVERGENT_BARRIER, (
            f"{self._thread(record).capitalize()} waits here for the lanes that its mask names, "
            f"but {elsewhere}. All lanes of the mask that have not returned must reach the same "
            "shuffle or vote, with the same mask: compute in a branch, exchange outside of it."
        )

    def uninitialised_shared(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        place = self.symbols.shared(record.address)
        return Defect.UNINITIALISED_SHARED, (
            f"{self._thread(record).capitalize()} reads {place} before any thread of its block "
            "has written it. Shared memory begins with junk, what another kernel left there, "
            "whatever its declaration says: no initial value is put there and no constructor runs. "
            "Fill all of it first, for example with 0 for the warps that do not exist."
        )

    def uninitialised_global(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        place = self.symbols.at(record.address, record.size)
        return Defect.UNINITIALISED_GLOBAL, (
            f"{self._thread(record).capitalize()} reads {place} before anything has written it: "
            "cupy.empty() gives memory with junk in it. Use cupy.zeros(), or write it first."
        )

    def global_race(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        place = self.symbols.at(record.address, record.size)
        here = "writes" if record.write else "reads"
        there = "read" if record.write else "wrote"
        if record.detail[0]:
            other = f"a thread of block {record.other_block}"
            advice = "Blocks run in any order and at the same time."
        else:
            other = self._numbered(record.other_thread)
            advice = "No barrier lies between."
        return Defect.GLOBAL_RACE, (
            f"{self._thread(record).capitalize()} {here} {place}, which {other} {there} in the "
            f"same launch. {advice} A sum like `y[j] += v` by several threads loses terms on a "
            "device: use atomicAdd, or let each block write its own part and add the parts in a "
            "second kernel."
        )

    def atomic_sum(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        place = self.symbols.at(record.address, record.size)
        who = "Several blocks" if record.detail[0] else "Several threads of a block"
        remedy = _SUM_OVER_BLOCKS if record.detail[0] else _SUM_IN_A_BLOCK
        return Defect.ATOMIC_SUM, (
            f"{who} add to {place}. Atomic sums of floating-point numbers round differently in "
            f"each order, and that changes from run to run. {remedy}"
        )

    def lane_absent(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        lane, lanes = record.detail[0], record.detail[1]
        return Defect.WARP_SIZE, (
            f"{self._thread(record).capitalize()} takes the value of lane {lane}, but its warp "
            f"has {lanes} threads: the block {self._block_text()} is no multiple of {_WARP}. What "
            f"it gets is undefined. Launch blocks of a multiple of {_WARP} threads, or leave the "
            "missing lanes out."
        )

    def lane_not_in_mask(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        lane, mask = record.detail[0], record.detail[2] & 0xFFFFFFFF
        if record.detail[3] == _RETURNED:
            return Defect.WARP_SIZE, (
                f"{self._thread(record).capitalize()} takes the value of lane {lane}, which has "
                "returned from the kernel. What it gets is undefined. Let the lanes of a warp "
                "return together, or let a lane without work go on with 0 and return behind the "
                "exchange."
            )
        if record.detail[3]:
            return Defect.WARP_SIZE, (
                f"{self._thread(record).capitalize()} takes part in a warp operation whose mask "
                f"0x{mask:08x} does not name its lane {lane}. Each lane that calls it must be in "
                "the mask."
            )
        return Defect.WARP_SIZE, (
            f"{self._thread(record).capitalize()} takes the value of lane {lane}, which does not "
            f"take part (mask 0x{mask:08x}). What it gets is undefined."
        )

    def _block_text(self) -> str:
        return f"of {self.block[0] * self.block[1] * self.block[2]} threads"

    def integer_overflow(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        return Defect.INDEX_OVERFLOW, (
            f"In {self._thread(record)} a 32-bit or 64-bit integer overflows (operands "
            f"{record.detail[0]} and {record.detail[1]}). {_OVERFLOW}"
        )

    def division_by_zero(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        return Defect.DIVISION_BY_ZERO, (
            f"{self._thread(record).capitalize()} divides the integer {record.detail[0]} by "
            f"{record.detail[1]}. A device does not stop there, it goes on with junk."
        )

    def shift_too_large(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        return Defect.SHIFT, (
            f"{self._thread(record).capitalize()} shifts by {record.detail[1]} bits, more than "
            "the number has. A device and this processor give different results for that."
        )

    def half_accumulation(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        return Defect.HALF_ACCUMULATION, (
            f"{self._thread(record).capitalize()} adds up many numbers in 16 bits. Such a sum "
            "stops growing once it is some thousand times its terms (2048 ones stay 2048 in "
            "float16). Keep sums in float and convert at the end."
        )

    def stack_overflow(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        return Defect.STACK_OVERFLOW, (
            f"{self._thread(record).capitalize()} has more local memory than there is room for "
            "(48 KB per thread here): a very large local array, or a function that calls "
            "itself too deeply."
        )

    def fault(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        return Defect.FAULT, (
            f"{self._thread(record).capitalize()} made the processor stop (signal "
            f"{record.detail[0]}, address {record.address:#x}). A local array that is indexed "
            "past its end does that."
        )

    def step_limit(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        return Defect.TIME_LIMIT, (
            f"{self._thread(record).capitalize()} was still running after more steps than a "
            "launch may take: is there a loop that never ends?"
        )

    def spinning(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        return Defect.ENDLESS_WAIT, (
            f"{self._thread(record).capitalize()} waits for ever: it looks at one place again and "
            f"again, and nothing else happens. {_WAITING}"
        )

    def trap(self, record: abi.DefectRecord) -> tuple[Defect, str]:
        return (
            Defect.TRAP,
            f"{self._thread(record).capitalize()} hit __trap() or a failed assert().",
        )


def _index(values: Any, sizes: Dimensions) -> str:
    if sizes[1] == 1 and sizes[2] == 1:
        return str(values[0])
    return f"({values[0]}, {values[1]}, {values[2]})"


_DESCRIBED: Final[dict[Native, Callable[[Formatter, abi.DefectRecord], tuple[Defect, str]]]] = {
    Native.OUT_OF_BOUNDS: Formatter.out_of_bounds,
    Native.MISALIGNED: Formatter.misaligned,
    Native.FREED: Formatter.freed,
    Native.NULL_POINTER: Formatter.null_pointer,
    Native.OTHER_STACK: Formatter.other_stack,
    Native.MISSING_BARRIER: Formatter.missing_barrier,
    Native.DIVERGENT_BARRIER: Formatter.divergent_barrier,
    Native.UNINITIALISED_SHARED: Formatter.uninitialised_shared,
    Native.UNINITIALISED_GLOBAL: Formatter.uninitialised_global,
    Native.GLOBAL_RACE: Formatter.global_race,
    Native.LANE_ABSENT: Formatter.lane_absent,
    Native.LANE_NOT_IN_MASK: Formatter.lane_not_in_mask,
    Native.INTEGER_OVERFLOW: Formatter.integer_overflow,
    Native.DIVISION_BY_ZERO: Formatter.division_by_zero,
    Native.SHIFT_TOO_LARGE: Formatter.shift_too_large,
    Native.HALF_ACCUMULATION: Formatter.half_accumulation,
    Native.STACK_OVERFLOW: Formatter.stack_overflow,
    Native.FAULT: Formatter.fault,
    Native.STEP_LIMIT: Formatter.step_limit,
    Native.SPINNING: Formatter.spinning,
    Native.TRAP: Formatter.trap,
    Native.ATOMIC_SUM: Formatter.atomic_sum,
}
