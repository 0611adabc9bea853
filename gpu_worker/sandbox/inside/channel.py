"""The runner's end of the result pipe: frames of results, notes, and what learners' code raised."""

from __future__ import annotations

import json
import os
import traceback
from types import TracebackType
from typing import Any, Final

from . import wire
from .libraries import NumpyLibrary
from .script import SUBMISSION, RefusalError
from .wire import CaseScript, FrameKind, Reason

_SMALL_BYTES: Final = 4_096
_KEPT_BACK: Final = (FrameKind.ARRAY, FrameKind.AS_GIVEN)
"""The kinds of frame that wait for a larger one, if they are small."""
_OUT_OF_MEMORY: Final = wire.encode_text("MemoryError", "", "")


class Channel:
    """Writes frames to the result pipe."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.case = wire.LOADING
        self.library = NumpyLibrary()
        self._most_bytes = 0
        self._waiting = bytearray()

    def send(self, kind: FrameKind, position: int = 0, *payload: bytes | memoryview) -> None:
        """Write one frame; its payload may come in parts.

        A small result waits, as a copy, until something larger is written or the class is called:
        thousands of system calls fewer in a job. What is large is not copied.
        """
        length = sum(len(part) for part in payload)
        head = wire.frame_head(kind, self.case, position, length)
        if kind in _KEPT_BACK and length <= _SMALL_BYTES:
            self._waiting += b"".join((head, *payload))
        else:
            self._write([bytes(self._waiting), head, *payload])
            self._waiting.clear()

    def flush(self) -> None:
        """Write what waits."""
        self._write([bytes(self._waiting)])
        self._waiting.clear()

    def _write(self, parts: list[bytes | memoryview]) -> None:
        while parts:
            written = os.writev(self._descriptor, parts)
            while parts and written >= len(parts[0]):
                written -= len(parts.pop(0))
            if parts:
                parts[0] = memoryview(parts[0])[written:]

    def begin_case(self, number: int, case: CaseScript) -> None:
        """Send frames of this case from now on, and of results only what may be one of it."""
        self.case = number
        self._most_bytes = wire.most_result_bytes(case)

    def send_result(self, position: int, value: Any) -> None:
        """Write a result as an array.

        Raises:
            RefusalError: it is none of the track's library, has a dtype or more dimensions than
                can be sent, or is far larger than anything that the case asks for.
        """
        array = self.library.values_of(value)
        if array.ndim > wire.MAX_DIMENSIONS:
            raise RefusalError(Reason.TOO_MANY_DIMENSIONS, str(array.ndim))
        if array.nbytes > self._most_bytes:
            raise RefusalError(Reason.RESULT_TOO_LARGE, str(array.shape))
        try:
            payload = wire.encode_array(array)
        except KeyError:
            raise RefusalError(Reason.DTYPE_UNSUPPORTED, str(array.dtype)) from None
        self.send(FrameKind.ARRAY, position, *payload)

    def send_input(self, position: int, array: Any, given: Any) -> None:
        """Write what an input holds now, or only that it holds what it was given.

        A run that lies here could as well send back what it kept: the bytes prove no more.
        """
        if _same_bits(self.library.values_of(array), given):
            self.send(FrameKind.AS_GIVEN, position)
        else:
            self.send_result(position, array)

    def send_notes(self, position: int) -> None:
        """Write what was counted and found since the last time, if anything was."""
        if notes := self.library.notes():
            self.send(FrameKind.NOTES, position, json.dumps(notes).encode("utf-8"))


def _same_bits(left: Any, right: Any) -> bool:
    """True if dtype, shape and every bit of two arrays of numbers agree, whatever their layout."""
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    bits = f"u{left.dtype.itemsize}"
    return bool((left.view(bits) == right.view(bits)).all())


def send_raised(channel: Channel, error: BaseException) -> None:
    """Describe what the learner's code raised: type, message, his line, his part of the trace."""
    line, payload = 0, _OUT_OF_MEMORY
    try:
        if isinstance(error, MemoryError):
            # The frames hold references to what filled the memory.
            traceback.clear_frames(error.__traceback__)
        first = _own_part(error)
        line = _last_line(error, first)
        payload = wire.encode_text(_type_name(error), _message(error), _trace(error, first))
    except BaseException:  # noqa: BLE001  memory is full, or a class lies about itself
        if not isinstance(error, MemoryError):
            payload = wire.encode_text("Exception", "", "")
    channel.send(FrameKind.RAISED, 0, line.to_bytes(4, "little") + payload)


def _type_name(error: BaseException) -> str:
    """Return the name of its type, without asking the type, whose metaclass may be anything."""
    return str(type.__dict__["__name__"].__get__(type(error)))


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:  # noqa: BLE001  the learner's own __str__ may raise anything
        return ""


def _own_part(error: BaseException) -> TracebackType | None:
    """Return the trace from the first frame of the learner's file on."""
    first: TracebackType | None = error.__traceback__
    while first is not None and first.tb_frame.f_code.co_filename != SUBMISSION:
        first = first.tb_next
    return first


def _last_line(error: BaseException, first: TracebackType | None) -> int:
    """Return the last line in the learner's file, 0 if it has no part in it."""
    line, step = 0, first
    while step is not None:
        if step.tb_frame.f_code.co_filename == SUBMISSION:
            line = step.tb_lineno
        step = step.tb_next
    if first is None and isinstance(error, SyntaxError):
        line = error.lineno or 0
    return min(max(line, 0), 0xFFFFFFFF)


def _trace(error: BaseException, first: TracebackType | None) -> str:
    report = traceback.TracebackException(type(error), error, first, limit=12, compact=True)
    # Without a frame of the learner's own, only the last lines are of use to the learner.
    text = "".join(report.format(chain=False) if first else report.format_exception_only())
    return text[-wire.MAX_TEXT_BYTES :]
