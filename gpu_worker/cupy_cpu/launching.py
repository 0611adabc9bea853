"""Launches a kernel: passes arguments as CuPy does, chooses orders of threads, keeps notes."""

from __future__ import annotations

import math
import operator
import sys
from typing import Any, Final

import numpy as np

from . import arguments, notes
from .array import backing, ndarray
from .executor import ArrayStructure, Kernel, LaunchError, Pointer, argument_words
from .memory import DEVICE
from .pointers import Address

COMPARED_LAUNCHES: Final = 6
"""So many first launches of a kernel run forwards and backwards, and must agree bit for bit."""
SHUFFLED_LAUNCHES: Final = 3
"""So many of them run in a random order too: where the first thread and the last write the same,
those between them may not.
"""
GROWTH: Final = 2
"""So do launches of so many times the blocks or threads of all that ran so before: what one block
cannot show, many may.
"""
MOST_COMPARED: Final = 400_000
"""Threads of a launch that runs once where a smaller one ran twice: running them takes seconds."""


_only_checked: list[bool] = []


def only_check() -> None:
    """Have launches checked and nothing run: results are junk then, and nobody looks at them."""
    _only_checked.append(True)


class CUDADriverError(RuntimeError):
    """A launch that a device would refuse, or that would destroy what it does not own."""


def argument(value: Any, place: int) -> Any:
    """Return an argument as the executor takes it.

    Arrays go as pointers to their first element, whatever their strides; Python's int, float and
    bool as long long, double and bool; NumPy's scalars, and arrays of one element, by value.

    Raises:
        TypeError: a NumPy array with more elements, or anything else.
    """
    if value is None:
        return Pointer(0)
    if isinstance(value, ndarray):
        values = backing(value)
        if not values.size:
            return Pointer(0, dtype=values.dtype)
        address = values.__array_interface__["data"][0]
        return Pointer(address, dtype=values.dtype, label=f"argument {place}", nbytes=values.nbytes)
    if isinstance(value, Address):
        return Pointer(value.ptr)
    if isinstance(value, np.ndarray):
        if value.size != 1:
            raise TypeError(
                f"You are trying to pass a numpy.ndarray of shape {value.shape} as a kernel "
                "parameter. Only numpy.ndarrays of size one can be passed by value. If you meant "
                "to pass a pointer to __global__ memory, you need to pass a cupy.ndarray instead."
            )
        return value.reshape(())[()]
    if isinstance(value, (bool, int, float, complex, np.generic, bytes)):
        return value
    raise TypeError(f"Unsupported type {type(value)}")


def extents(size: Any, what: str) -> tuple[int, int, int]:
    """Return a grid or block of three extents.

    Raises:
        TypeError: it is no tuple, or holds what is no integer, such as the float of a division.
    """
    if not isinstance(size, tuple):
        raise TypeError(
            f"Argument '{what}' has incorrect type (expected tuple, got {type(size).__name__}): "
            f"write ({what},) for one dimension."
        )
    whole = [max(1, _integer(n, what, size)) for n in (*size, 1, 1)[:3]]
    return whole[0], whole[1], whole[2]


def _integer(extent: Any, what: str, size: tuple[Any, ...]) -> int:
    try:
        return operator.index(extent)
    except TypeError:
        raise TypeError(
            f"'{type(extent).__name__}' object cannot be interpreted as an integer: the {what} "
            f"{size} must hold integers. / always gives a float; write (n + threads - 1) // "
            "threads for the number of blocks that n threads need."
        ) from None


class Launcher:
    """One kernel; counts its launches to choose the order of threads."""

    def __init__(
        self, kernel: Kernel, name: str, build: int, *, is_generated: bool = False
    ) -> None:
        self.kernel = kernel
        self._name = name
        self._build = build
        self._launches = 0
        self._most = (0, 0)
        """The most blocks, and the most threads, of a launch whose orders were compared."""
        self._is_generated = is_generated

    def launch(self, grid: Any, block: Any, args: Any, shared_mem: int = 0) -> None:
        """Run the kernel to its end.

        Raises:
            CUDADriverError: it was stopped; what was found is kept for the report.
        """
        grid, block = extents(grid, "grid"), extents(block, "block")
        given = [self._given(value, place) for place, value in enumerate(args)]
        order: dict[str, Any] = {"order": ("random", "forward", "reverse")[self._launches % 3]}
        shares = any(isinstance(value, ArrayStructure) and value.shared for value in given)
        if (shares or not self._is_generated) and self._is_compared(grid, block):
            shuffled = ("random",) if self._launches < SHUFFLED_LAUNCHES else ()
            order = {"orders": ("forward", "reverse", *shuffled)}
        self._launches += 1
        try:
            if _only_checked:
                self.kernel.check(grid, block, given, int(shared_mem), memory=DEVICE)
                return
            report = self.kernel.launch(
                grid, block, given, int(shared_mem), memory=DEVICE, seed=self._launches, **order
            )
        except LaunchError as error:
            for diagnostic in error.diagnostics:
                notes.add(diagnostic, self._build)
            raise CUDADriverError(str(error)) from None
        report.build = self._build
        for diagnostic in report.diagnostics:
            notes.add(diagnostic, self._build)
        if report.output:
            sys.stdout.write(report.output)
        notes.launched(self._name, grid, block, shared_mem, report, self._build,
                          generated=self._is_generated)  # fmt: skip

    def _given(self, value: Any, place: int) -> Any:
        """Return an argument as the executor takes it, or note which one cannot be taken."""
        try:
            return argument(value, place)
        except TypeError:
            parameters = self.kernel.parameters
            if place < len(parameters):
                arguments.of_another_type(
                    self._name, place + 1, parameters[place].name, argument_words.refused(value),
                    parameters[place].type_name, self._build,
                )  # fmt: skip
            raise

    def _is_compared(self, grid: tuple[int, ...], block: tuple[int, ...]) -> bool:
        """Say whether a launch is to run in two orders, and remember its size if so."""
        blocks = math.prod(grid)
        sizes = (blocks, blocks * math.prod(block))
        grown = any(n >= GROWTH * most for n, most in zip(sizes, self._most, strict=True))
        if self._launches >= COMPARED_LAUNCHES and not grown:
            return False
        if sizes[1] > MOST_COMPARED and self._most[0]:
            return False
        self._most = (max(sizes[0], self._most[0]), max(sizes[1], self._most[1]))
        return True
