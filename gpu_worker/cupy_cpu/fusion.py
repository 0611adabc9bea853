"""`cupy.fuse`: a function's operations as one kernel, and what that kernel moves."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import traffic
from .array import backing, ndarray
from .traffic import Counts, Operation, Recording, distinct_bytes

Array = NDArray[Any]


def fuse(*args: Any, kernel_name: str | None = None) -> Any:
    """Decorate a function of arrays so that its operations count as one kernel.

    Without a reduction inside it reads each array that it is given once and writes what it returns
    once. See `moved` for what a reduction costs. What CuPy does not fuse, such as `cumsum`, is
    refused where it is counted: see `traffic.count`. Source: cupy/_core/_fusion_trace.pyx.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def fused(*operands: Any) -> Any:
            given = [backing(value) for value in operands if isinstance(value, ndarray)]
            if not given:
                return function(*operands)
            with traffic.recorded(given) as recording:
                result = function(*operands)
            parts = result if isinstance(result, tuple) else (result,)
            returned = [backing(part) for part in parts if isinstance(part, ndarray)]
            # Where one fused function calls another, only the outer one is counted.
            if recording.operations and not traffic.is_recording():
                counts = moved(recording, [*given, *returned])
                traffic.count_kernel(counts.bytes_read, counts.bytes_written)
            return result

        return fused

    return decorate(args[0]) if args and callable(args[0]) else decorate


def moved(recording: Recording, outside: Iterable[Array]) -> Counts:
    """Return what one kernel of such operations moves; `outside` are arrays the caller sees.

    A reduction divides the kernel: what needs its result waits until all of the grid has computed
    it. What is computed before and needed after has to be kept in the device's memory meanwhile,
    and what is read before and needed after is read again.
    """
    homes = {id(computed): home for computed, home in recording.placed}

    def root(array: Array) -> int:
        """Return what tells the memory that an array, or the array it is a view of, has."""
        array = homes.get(id(array), array)
        while isinstance(array.base, np.ndarray):
            array = array.base
        return id(array)

    seen = {root(array) for array in outside}
    stages: dict[int, int] = {}
    """The stage in which each array that is made can be used."""
    reads: set[tuple[int, int]] = set()
    made: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for operation in recording.operations:
        sources = {root(array): array for array in operation.inputs}
        stage = max((stages.get(source, 0) for source in sources), default=0)
        for source, array in sources.items():
            sizes[source] = max(sizes.get(source, 0), distinct_bytes(array))
            if made.get(source) != stage:
                reads.add((stage, source))
        for array in operation.outputs:
            target = root(array)
            made[target], stages[target] = stage, stage + _is_reduction(operation)
            sizes[target] = max(sizes.get(target, 0), array.nbytes)
    kept = {source for _, source in reads if source in made} | (made.keys() & seen)
    return Counts(
        bytes_read=sum(sizes[source] for _, source in reads),
        bytes_written=sum(sizes[target] for target in kept),
        launches=1,
    )


def _is_reduction(operation: Operation) -> bool:
    """True if an output is smaller than what goes in."""
    largest = max((array.size for array in operation.inputs), default=0)
    return all(array.size < largest for array in operation.outputs)
