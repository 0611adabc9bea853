"""A job in shared memory: the judge may still write to it, the runner can only read."""

from __future__ import annotations

import mmap
import os
import struct
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from gpu_worker.sandbox.inside.timed import MARK_BYTES, STOP
from gpu_worker.sandbox.inside.wire import CaseScript, Job, TimedCalls, encode_job
from gpu_worker.sandbox.pipes import seal

_PAGE: Final = mmap.PAGESIZE


class SharedJob:
    """The memory of a job with timed calls. `live` are the arrays written before each call."""

    def __init__(
        self, source: str, class_name: str, case: CaseScript, live: frozenset[int], count: int
    ) -> None:
        places, end = [], 0
        for index, array in enumerate(case.arrays):
            places.append(end if index in live else -1)
            end += array.values.nbytes if index in live else 0
        # The header's length depends on the offsets; a generous first page count settles both.
        start = _pages(len(encode_job(Job(source, class_name, (case,)))) + _PAGE) * _PAGE
        shifted = tuple(start + _PAGE + place if place >= 0 else -1 for place in places)
        timed = TimedCalls(count, start, shifted)
        data = encode_job(Job(source, class_name, (case,), timed))
        self._timed = timed
        self.descriptor = os.memfd_create("job", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, start + _PAGE + _pages(end) * _PAGE)
        self._memory = mmap.mmap(self.descriptor, 0)
        self._memory[: len(data)] = data
        seal(self.descriptor)

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

    def put(self, index: int, values: NDArray[Any]) -> None:
        """Write an array's next content, in C order."""
        place = self._timed.places[index]
        room = np.frombuffer(self._memory, values.dtype, values.size, place)
        room[...] = values.ravel()

    def mark(self, value: int) -> None:
        """Let the runner go on."""
        struct.pack_into("<Q", self._memory, self._timed.offset, value)

    def stop(self) -> None:
        """Ask for no more calls."""
        self.mark(STOP)


def _pages(size: int) -> int:
    return -(-(size + MARK_BYTES) // _PAGE)
