"""Turns addresses into names: elements of the arrays that were passed, or of a shared array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from .arguments import ArrayStructure, Parameter, Pointer, addresses
from .function import Function
from .memory import Allocation, Memory
from .variables import Reachable, Variable

_UNKNOWN: Final = "memory that nothing this launch is given leads to"
_DYNAMIC_BYTES: Final = 1 << 18
_ADDRESS_BYTES: Final = 8
_LOOKED_AT_BYTES: Final = 1 << 20
"""Of each array, when addresses are looked for in it."""
_MOST_ADDRESSES: Final = 1024
"""Of other arrays, taken from one array."""


@dataclass(frozen=True, slots=True)
class _Known:
    """An array that a launch leads to, what it is called, and the size of its elements."""

    label: str
    allocation: Allocation
    itemsize: int


class Symbolizer:
    """Names the memory that one launch uses."""

    def __init__(
        self, kernel: Function, memory: Memory | Reachable, args: Sequence[object]
    ) -> None:
        self.kernel, self.library, self.memory, self.args = kernel, kernel.library, memory, args

    # --- device memory ----------------------------------------------------------------------------
    def array(self, allocation: Allocation) -> tuple[str, int]:
        """Return what an array is called, and the size of its elements in bytes.

        That is the parameter that brings it; else what leads to it, as C would write it: a member
        of a structure, `view.x`, an element of an array of addresses, `rows[3]`, or a variable.
        """
        for known in self._reached():
            if known.allocation is allocation:
                return known.label, known.itemsize
        return allocation.name or _UNKNOWN, allocation.itemsize

    def element(self, allocation: Allocation, offset: int, size: int) -> str:
        """Return what `size` bytes of an array from `offset` on are: `x[3]`, `x[0:4]`."""
        label, itemsize = self.array(allocation)
        first, last = offset // itemsize, (offset + size - 1) // itemsize
        which = f"{first}" if last == first else f"{first}:{last + 1}"
        return f"element {which} of {label}" if " " in label else f"{label}[{which}]"

    def at(self, address: int, size: int) -> str:
        """Return what lies at an address, in device memory or in shared memory."""
        allocation = self.memory.find(address)
        if allocation is not None:
            return self.element(allocation, address - allocation.address, size)
        return self.shared_byte(address) or "its memory"

    def _reached(self) -> Iterator[_Known]:
        """Yield what the launch leads to, each array once: arguments, variables, and then what
        addresses in these arrays lead to.
        """
        level = [*self._passed(), *self._variables()]
        seen: set[int] = set()
        while level:
            fresh = []
            for known in level:
                if known.allocation.address not in seen:
                    seen.add(known.allocation.address)
                    fresh.append(known)
            yield from fresh
            level = [held for known in fresh for held in self._held(known)]

    def _passed(self) -> Iterator[_Known]:
        for number, (value, parameter) in enumerate(
            zip(self.args, self.kernel.parameters, strict=True), start=1
        ):
            name = parameter.name or f"argument {number}"
            if isinstance(value, np.void):
                for member, address in addresses(value):
                    yield from self._known(f"{name}.{member}", address)
            elif isinstance(value, Pointer | ArrayStructure):
                yield from self._known(name, value.address, _element_size(value, parameter))
            elif isinstance(value, int | np.integer):
                yield from self._known(name, int(value), parameter.pointee_size)

    def _variables(self) -> Iterator[_Known]:
        for variable in self.library.variables:
            yield _Known(variable.name, variable, variable.itemsize)

    def _known(self, label: str, address: int, itemsize: int = 0) -> Iterator[_Known]:
        allocation = self.memory.find(address)
        if allocation is not None:
            yield _Known(label, allocation, itemsize or allocation.itemsize)

    def _held(self, known: _Known) -> Iterator[_Known]:
        """Yield the arrays whose addresses lie in another one."""
        holder = known.allocation
        words = min(holder.nbytes, _LOOKED_AT_BYTES) // _ADDRESS_BYTES
        values = holder.bytes[: words * _ADDRESS_BYTES].view(np.uint64)
        others = self.memory.known()
        if not others or not words:
            return
        may_be = (values >= others[0].address) & (values < max(other.end for other in others))
        for place in np.flatnonzero(may_be)[:_MOST_ADDRESSES]:
            label = _leading(known, int(place) * _ADDRESS_BYTES)
            yield from self._known(label, int(values[place]))

    # --- shared memory ----------------------------------------------------------------------------
    def is_shared(self, address: int) -> bool:
        """Say whether an address is one of shared memory, or near it."""
        if self._dynamic_byte(address) is not None:
            return True
        variable = self.library.shared_variable(address)
        return variable is not None and variable[1] < _DYNAMIC_BYTES

    def shared_byte(self, address: int) -> str:
        """Return byte, name and size of the shared array at an address, in words; or ""."""
        dynamic = self._dynamic_byte(address)
        if dynamic is not None:
            return f"byte {dynamic} of the dynamic shared memory"
        variable = self.library.shared_variable(address)
        if variable is None:
            return ""
        name, offset, nbytes = variable
        return f"byte {offset} of {name}, which has {nbytes} bytes of shared memory"

    def shared_array(self, address: int) -> str:
        """Return the name of a shared array, empty for dynamic shared memory."""
        if self._dynamic_byte(address) is not None:
            return ""
        variable = self.library.shared_variable(address)
        return variable[0] if variable else ""

    def shared(self, address: int) -> str:
        """Return the byte and the shared array at an address, in words."""
        dynamic = self._dynamic_byte(address)
        if dynamic is not None:
            return f"dynamic shared memory at byte {dynamic}"
        variable = self.library.shared_variable(address)
        return (
            f"the shared array {variable[0]} at byte {variable[1]}" if variable else "shared memory"
        )

    def _dynamic_byte(self, address: int) -> int | None:
        offset = address - self.library.dynamic_shared_address
        return offset if 0 <= offset < _DYNAMIC_BYTES else None


def _element_size(value: Pointer | ArrayStructure, parameter: Parameter) -> int:
    if isinstance(value, ArrayStructure):
        return value.itemsize
    if value.dtype is not None:
        return int(np.dtype(value.dtype).itemsize)
    return parameter.pointee_size or 1


def _leading(known: _Known, offset: int) -> str:
    """Return what an array is called whose address lies at a byte of another one."""
    element = offset // known.itemsize
    if known.itemsize == _ADDRESS_BYTES and " " not in known.label:
        alone = isinstance(known.allocation, Variable) and known.allocation.nbytes == known.itemsize
        return known.label if alone else f"{known.label}[{element}]"
    return f"the array whose address is in {known.label}, byte {offset}"
