"""What the harness asks of the stand-in: inputs in, results out, and the notes of a call."""

from __future__ import annotations

from typing import Any

from . import compiler, launching, memory, notes, traffic
from .array import backing, ndarray, view
from .executor import unwritten_elements


def connect(builder: Any) -> None:
    """Have kernels built by this builder; see `inside.building`."""
    compiler.connect(builder)


def to_device(values: Any) -> ndarray:
    """Return a NumPy array on the device, in its memory layout."""
    made: ndarray = view(memory.place_as_laid_out(values))
    return made


def to_host(array: ndarray) -> Any:
    """Return the array's values as NumPy has them, without a copy."""
    return backing(array)


def fault(result: Any) -> str:
    """Return the kind of an error that did not raise, empty for none: "order-dependent", ...

    A result that no kernel has written wholly is one.
    """
    if type(result) is ndarray:
        count, first = memory.unwritten(backing(result))
        if count:
            writer, launches = memory.written_by(backing(result))
            diagnostic = unwritten_elements(
                "the result", count, first, result.size, writer, launches
            )
            notes.add(diagnostic, writer.build if writer else 0)
    return notes.fault()


def only_check_launches() -> None:
    """Run no kernel from now on; what a device would refuse of a launch is refused all the same."""
    launching.only_check()


def take_notes() -> dict[str, Any]:
    """Return what was counted and found since the last time, as plain JSON values."""
    return notes.take()


def forget_traffic() -> None:
    """Begin to count anew."""
    traffic.take()
