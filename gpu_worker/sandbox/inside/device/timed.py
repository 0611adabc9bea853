"""Plays timed calls on a device: inputs and results go through memory shared with the judge.

The judge owns the clock. The job's memory holds a mark (u64), the arrays that the judge writes, and
room for each call's results:

    mark 2i + 1    array i is there: it is copied to the device     BEGIN, position 0
    mark 2i + 2    start; the device has finished all its work      BEGIN, position 1
                   the results are in the memory                    BEGIN, position 2, their heads
    mark STOP      no further calls

Heads are ARRAY payloads without the bytes, each preceded by its length as u32.
"""

from __future__ import annotations

import math
import mmap
import os
import struct
import time
from typing import Any, Final

import numpy as np

from ..channel import Channel, send_raised
from ..script import RefusalError, play
from ..timed import MARK_BYTES, STOP, StoppedError
from ..wire import FrameKind, Job, Operation, Reason, TimedCalls, encode_head, encode_text

_PAUSE_SECONDS: Final = 5e-5
_LENGTH: Final = struct.Struct("<I")


class _Memory:
    """The job's memory, mapped for reading and writing."""

    def __init__(self, descriptor: int, calls: TimedCalls) -> None:
        self._bytes = mmap.mmap(descriptor, os.fstat(descriptor).st_size)
        self._mark = calls.offset

    def wait(self, mark: int, pause: float) -> None:
        """Wait for a mark.

        Raises:
            StoppedError: there are no more calls.
        """
        while (seen := self._seen()) < mark:
            if pause:
                time.sleep(pause)
        if seen == STOP:
            raise StoppedError

    def _seen(self) -> int:
        return int.from_bytes(self._bytes[self._mark : self._mark + MARK_BYTES], "little")

    def array(self, dtype: Any, shape: tuple[int, ...], place: int) -> Any:
        """Return a NumPy array over the bytes from `place` on."""
        return np.frombuffer(self._bytes, dtype, math.prod(shape), place).reshape(shape)

    def room(self, like: Any, place: int) -> Any:
        """Return the room for a result from `place` on.

        Raises:
            RefusalError: there is no room for so large a result.
        """
        if place + like.nbytes > len(self._bytes):
            raise RefusalError(Reason.RESULT_TOO_LARGE, str(like.shape))
        return self.array(like.dtype, like.shape, place)


class _Player:
    """Plays the job's one case, call after call."""

    def __init__(self, channel: Channel, job: Job, descriptor: int) -> None:
        assert job.timed is not None  # noqa: S101  the caller has looked
        self._channel = channel
        self._library: Any = channel.library
        self._calls = job.timed
        self._given = job.cases[0].arrays
        self._memory = _Memory(descriptor, job.timed)
        self._taken = 0
        self._results: list[Any] = []

    def arrays(self) -> list[Any]:
        """Return the case's arrays on the device."""
        # Arrays that the judge writes are replaced when they are taken.
        return _LiveArrays(
            [self._library.cupy.asarray(given.values) for given in self._given], self
        )

    def take(self, index: int) -> Any:
        """Wait for an array, copy it to the device, say so, and wait for the start."""
        self._memory.wait(2 * self._taken + 1, _PAUSE_SECONDS)
        given = self._given[index]
        array = self._library.cupy.asarray(
            self._memory.array(given.values.dtype, given.shape, self._calls.places[index])
        )
        self._library.synchronize()
        self._channel.send(FrameKind.BEGIN, 0)
        self._memory.wait(2 * self._taken + 2, 0.0)
        self._taken += 1
        return array

    def is_live(self, index: int) -> bool:
        return self._calls.places[index] >= 0

    def emit(self, position: int, operation: Operation, layer: Any, value: Any) -> None:
        """Say that a call is over, once the device has finished; keep what is sent."""
        if operation.kind != "get":
            self._library.check_type(value)
            self._library.synchronize()
            self._channel.send(FrameKind.BEGIN, 1)
        if operation.send:
            self._library.check_type(value)
            self._results.append(value)

    def hand_over(self) -> None:
        """Write the results of a call into the memory, and tell their dtypes and shapes."""
        place, heads = self._calls.results, b""
        for value in self._results:
            room = self._memory.room(value, place)
            self._library.fetch_into(value, room)
            head = encode_head(room)
            heads += _LENGTH.pack(len(head)) + head
            place += room.nbytes
        self._results.clear()
        self._channel.send(FrameKind.BEGIN, 2, heads)


class _LiveArrays(list[Any]):
    """A case's arrays; taking one that the judge writes waits for it, and for the start."""

    def __init__(self, arrays: list[Any], player: _Player) -> None:
        super().__init__(arrays)
        self._player = player

    def __getitem__(self, index: Any) -> Any:
        if self._player.is_live(index):
            return self._player.take(index)
        return super().__getitem__(index)


def play_timed(channel: Channel, cls: Any, job: Job, descriptor: int) -> None:
    """Play the job's one case as often as the judge asks for."""
    try:
        player = _Player(channel, job, descriptor)
        arrays = player.arrays()
        for number in range(player._calls.count):
            channel.case = number
            play(cls, job.cases[0].operations, arrays, player.emit)
            player.hand_over()
    except StoppedError:
        pass
    except RefusalError as refusal:
        channel.send(FrameKind.REFUSED, 0, bytes([refusal.reason]) + encode_text(refusal.text))
    except BaseException as error:  # noqa: BLE001  a learner's class may raise anything
        send_raised(channel, error)
