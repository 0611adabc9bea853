"""The memory of a job with timed calls on a device: the judge's mark, inputs, room for results.

Only its size is sealed, since the runner writes results to it, so its contents are as untrusted as
anything from a runner. The judge's own process on the device keeps the inputs that it drew and
compares with those; a program that tampers with this memory only harms its own results.
"""

from __future__ import annotations

import fcntl
import math
import mmap
import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

import numpy as np

from gpu_worker.sandbox.inside.timed import STOP
from gpu_worker.sandbox.inside.wire import ArrayValue, CaseScript, Job, TimedCalls, encode_job

_PAGE: Final = mmap.PAGESIZE


@dataclass(frozen=True, slots=True)
class Room:
    """Where an array lies in the memory."""

    place: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def announced(dtype: np.dtype[Any], shape: tuple[int, ...]) -> ArrayValue:
    """Return an input that the job only announces: the judge writes it into the memory."""
    return ArrayValue(np.zeros(1, dtype), "contiguous", shape)


class DeviceJob:
    """The memory of one job. `inputs` are by the index of the case's array, `results` in order."""

    def __init__(
        self,
        source: str,
        class_name: str,
        case: CaseScript,
        live: Sequence[int],
        results: Sequence[tuple[np.dtype[Any], tuple[int, ...]]],
        count: int,
    ) -> None:
        bare = Job(source, class_name, (case,), library="device")
        # The header's length depends on the offsets; one more page settles both.
        self._mark = _pages(len(encode_job(bare)) + _PAGE)
        place = self._mark + _PAGE
        self.inputs: dict[int, Room] = {}
        for index in live:
            given = case.arrays[index]
            self.inputs[index] = Room(place, given.values.dtype, given.shape)
            place += _pages(self.inputs[index].nbytes)
        self.results: list[Room] = []
        first = place
        for dtype, shape in results:
            self.results.append(Room(place, dtype, shape))
            # In the order in which the runner writes them.
            place += self.results[-1].nbytes
        places = tuple(
            self.inputs[index].place if index in self.inputs else -1
            for index in range(len(case.arrays))
        )
        timed = TimedCalls(count, self._mark, places, first)
        data = encode_job(Job(source, class_name, (case,), timed, library="device"))
        self.nbytes = _pages(place)
        self.descriptor = os.memfd_create("job", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, self.nbytes)
        self._memory = mmap.mmap(self.descriptor, 0)
        self._memory[: len(data)] = data
        fcntl.fcntl(
            self.descriptor,
            fcntl.F_ADD_SEALS,
            fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._memory.close()
        os.close(self.descriptor)

    def mark(self, value: int) -> None:
        """Let the runner go on."""
        struct.pack_into("<Q", self._memory, self._mark, value)

    def stop(self) -> None:
        """Ask for no more calls."""
        self.mark(STOP)


def _pages(size: int) -> int:
    return -(-size // _PAGE) * _PAGE
