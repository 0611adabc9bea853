"""Plays timed calls: each waits for the judge's mark, takes its input then, and says when done.

The judge owns the clock. It writes an array into the job's memory and raises its mark to an odd
number: the runner takes a copy and says that it is ready. The next, even mark starts the call.

    mark 2i + 1    array i of all calls is there        BEGIN, position 0
    mark 2i + 2    start                                BEGIN, position 1, when the call returned
    mark STOP      no more calls
"""

from __future__ import annotations

import os
import time
from typing import Any, Final

import numpy as np

from . import wire
from .channel import Channel, send_raised
from .script import RefusalError, arrange, play
from .wire import FrameKind, Job, Operation, Reason, TimedCalls

STOP: Final = (1 << 64) - 1
MARK_BYTES: Final = 8
_PAUSE_SECONDS: Final = 5e-5


class StoppedError(BaseException):
    """The judge wants no more calls. No `Exception`, so that learners do not catch it."""


class LiveArrays(list[Any]):
    """A case's arrays; taking one that the judge writes waits for it, and for the start."""

    def __init__(self, arrays: list[Any], calls: TimedCalls, channel: Channel, job: int) -> None:
        super().__init__(arrays)
        self._calls = calls
        self._channel = channel
        self._job = job
        self._taken = 0

    def __getitem__(self, index: Any) -> Any:
        place = self._calls.places[index]
        if place < 0:
            return super().__getitem__(index)
        self._wait(2 * self._taken + 1, _PAUSE_SECONDS)
        kept = super().__getitem__(index)
        # Uses pread: Python implements preadv by preadv2, which the runner may not call.
        data = os.pread(self._job, kept.nbytes, place)
        array = np.frombuffer(data, kept.dtype).reshape(kept.shape).copy()
        self._channel.send(FrameKind.BEGIN, 0)
        self._wait(2 * self._taken + 2, 0.0)
        self._taken += 1
        return array

    def _wait(self, mark: int, pause: float) -> None:
        while (seen := self._mark()) < mark:
            if pause:
                time.sleep(pause)
        if seen == STOP:
            raise StoppedError

    def _mark(self) -> int:
        return int.from_bytes(os.pread(self._job, MARK_BYTES, self._calls.offset), "little")


def play_timed(channel: Channel, cls: Any, job: Job, descriptor: int) -> None:
    """Play the job's one case again and again; the results of a call follow when it is over."""
    (case,) = job.cases
    assert job.timed is not None  # noqa: S101  the caller has looked
    arrays = LiveArrays([arrange(value) for value in case.arrays], job.timed, channel, descriptor)
    results: list[tuple[int, Any]] = []

    def emit(position: int, operation: Operation, layer: Any, value: Any) -> None:
        if operation.kind != "get":
            if type(value) is not np.ndarray:
                raise RefusalError(Reason.NOT_AN_ARRAY, type(value).__name__)
            channel.send(FrameKind.BEGIN, 1)
        if operation.send:
            results.append((position, value))

    try:
        for number in range(job.timed.count):
            channel.begin_case(number, case)
            results.clear()
            play(cls, case.operations, arrays, emit)
            for position, value in results:
                channel.send_result(position, value)
            channel.flush()
    except StoppedError:
        pass
    except RefusalError as refusal:
        payload = bytes([refusal.reason]) + wire.encode_text(refusal.text)
        channel.send(FrameKind.REFUSED, 0, payload)
    except BaseException as error:  # noqa: BLE001  a learner's class may raise anything
        send_raised(channel, error)
