"""Loads the learner's file in the runner, plays the cases on its class, sends frames back.

From the moment the learner's code starts, everything in this process is his: what is sent is
data to be judged, never a verdict.
"""

from __future__ import annotations

import io
import json
import linecache
import os
import random
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType, TracebackType
from typing import Any, Final

import numpy as np

from . import stand_in, timed, wire
from .building import Builder
from .libraries import CupyLibrary, NumpyLibrary
from .script import SUBMISSION, RefusalError, last_contents, play
from .wire import CaseScript, Job, Kind, Operation, Reason

_SMALL_BYTES: Final = 4_096
_KEPT_BACK: Final = (Kind.ARRAY, Kind.AS_GIVEN)
"""The kinds of frame that wait for a larger one, if they are small."""
_OUT_OF_MEMORY: Final = wire.encode_text("MemoryError", "", "")


class ForbiddenImportError(ImportError):
    """A package that the exercise does not offer."""


class ImportGuard(MetaPathFinder):
    """Answers imports of anything but the track's library and the standard one with a sentence."""

    def __init__(self, library: NumpyLibrary) -> None:
        self._library = library

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> None:
        """Let the next finder go on, or refuse.

        Raises:
            ForbiddenImportError: the package is not offered.
        """
        package = name.partition(".")[0]
        # Names with an underscore are the standard library's own, not all of them listed.
        if package.startswith("_") or package in sys.stdlib_module_names:
            return
        if package in self._library.left_out:
            raise ForbiddenImportError(self._library.left_out[package].format(package))
        if package not in self._library.packages:
            raise ForbiddenImportError(
                f"The package {package} is not available here; only {self._library.offer} can be "
                "imported."
            )


class Channel:
    """Writes frames to the result pipe."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.case = wire.LOADING
        self.library = NumpyLibrary()
        self._most_bytes = 0
        self._waiting = bytearray()

    def send(self, kind: Kind, position: int = 0, *payload: bytes | memoryview) -> None:
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
        self.send(Kind.ARRAY, position, *payload)

    def send_input(self, position: int, array: Any, given: Any) -> None:
        """Write what an input holds now, or only that it holds what it was given.

        A run that lies here could as well send back what it kept: the bytes prove no more.
        """
        if _same_bits(self.library.values_of(array), given):
            self.send(Kind.AS_GIVEN, position)
        else:
            self.send_result(position, array)

    def send_notes(self, position: int) -> None:
        """Write what was counted and found since the last time, if anything was."""
        if notes := self.library.notes():
            self.send(Kind.NOTES, position, json.dumps(notes).encode("utf-8"))


def _same_bits(left: Any, right: Any) -> bool:
    """True if dtype, shape and every bit of two arrays of numbers agree, whatever their layout."""
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    bits = f"u{left.dtype.itemsize}"
    return bool((left.view(bits) == right.view(bits)).all())


def main(job_descriptor: int, result_descriptor: int) -> None:
    """Play the whole job. Returns when all is sent."""
    channel = Channel(result_descriptor)
    job = _read_job(job_descriptor)
    _fresh_streams()
    _fresh_randomness()
    try:
        if job.library == "cupy":
            builder = Builder(
                lambda number, payload: channel.send(Kind.BUILD, number, payload),
                stand_in.builds_folder,
            )
            channel.library = CupyLibrary(builder)
        elif job.library == "device":
            channel.library = _device_library()
        if job.launches_only:
            channel.library.only_check_launches()
        sys.meta_path.insert(0, ImportGuard(channel.library))
        cls = _load(job)
    except RefusalError as refusal:
        channel.send(Kind.REFUSED, 0, bytes([refusal.reason]) + wire.encode_text(refusal.text))
    except BaseException as error:  # noqa: BLE001  a learner's file may raise anything
        send_raised(channel, error)
    else:
        if job.timed:
            player = _device_player() if job.library == "device" else timed.play_timed
            player(channel, cls, job, job_descriptor)
        for number, case in enumerate(() if job.timed else job.cases):
            channel.begin_case(number, case)
            channel.send(Kind.BEGIN)
            _play_case(channel, cls, case, counted=job.counted)
    channel.send_notes(0)
    channel.case = 0
    channel.send(Kind.END)
    sys.stdout.flush()
    sys.stderr.flush()


def _device_library() -> NumpyLibrary:
    # Loaded by a zygote for a device, which alone gets such jobs.
    from .device.library import DeviceLibrary

    return DeviceLibrary()


def _device_player() -> Callable[..., None]:
    from .device.timed import play_timed

    return play_timed


def _read_job(descriptor: int) -> Job:
    size = os.fstat(descriptor).st_size
    return wire.decode_job(os.pread(descriptor, size, 0))


def _fresh_streams() -> None:
    """Write output line by line, so that a killed program's last words are kept."""
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), encoding="utf-8")
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        raw = io.FileIO(descriptor, "w", closefd=False)
        stream = io.TextIOWrapper(
            io.BufferedWriter(raw), "utf-8", errors="backslashreplace", line_buffering=True
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _fresh_randomness() -> None:
    """All runners are forked from one process: without this they would draw the same numbers."""
    random.seed()
    np.random.seed()


def _load(job: Job) -> Any:
    """Run the file, and return its class.

    It is a module that is not `__main__`; a job that names no class is a program, and is.
    """
    source = job.source.removeprefix("\ufeff")
    module = ModuleType("submission" if job.class_name else "__main__")
    module.__file__ = SUBMISSION
    sys.modules[module.__name__] = module
    linecache.cache[SUBMISSION] = (len(source), None, source.splitlines(True), SUBMISSION)
    # Compiled from text: a coding cookie cannot change how the file is read.
    code = compile(source, SUBMISSION, "exec", dont_inherit=True)
    exec(code, module.__dict__)  # noqa: S102  this is what the process is for
    if not job.class_name:
        return None
    cls = module.__dict__.get(job.class_name)
    if not callable(cls):
        names = [n for n, v in module.__dict__.items() if type(v) is type and n != "annotations"]
        raise RefusalError(Reason.CLASS_MISSING, ", ".join(names[:5]))
    return cls


def _play_case(channel: Channel, cls: Any, case: CaseScript, *, counted: bool) -> None:
    """Play one case; its results are sent at once, those asked for again at its end.

    `counted` says after each call what it moved, not only at the end what was found.
    """
    sent: list[tuple[int, Any]] = []
    place = 0

    def emit(position: int, operation: Operation, layer: Any, value: Any) -> None:
        nonlocal place
        place = position
        if counted and operation.kind != "get":
            channel.send_notes(position)
        channel.library.check(value)
        if operation.send:
            channel.send_result(position, value)
            sent.append((position, value))

    def announce(position: int) -> None:
        if counted and position:
            # What making the instance moved belongs to no call.
            channel.send_notes(position - 1)
        channel.library.poison(arrays)
        channel.send(Kind.CALL, position)

    arrays: list[Any] = []
    try:
        arrays = [channel.library.arrange(value) for value in case.arrays]
        play(cls, case.operations, arrays, emit, announce)
        for position, value in sent if case.resend else ():
            channel.send_result(position, value)
        for position, (array, given) in enumerate(zip(arrays, last_contents(case), strict=True)):
            channel.send_input(position, array, given)
    except RefusalError as refusal:
        payload = bytes([refusal.reason]) + wire.encode_text(refusal.text)
        channel.send(Kind.REFUSED, place, payload)
    except BaseException as error:  # noqa: BLE001  a learner's class may raise anything
        send_raised(channel, error)
    channel.send_notes(place)


def send_raised(channel: Channel, error: BaseException) -> None:
    """Describe what the learner's code raised: type, message, his line, his part of the trace."""
    line, payload = 0, _OUT_OF_MEMORY
    try:
        if isinstance(error, MemoryError):
            # The frames hold what filled the memory.
            traceback.clear_frames(error.__traceback__)
        first = _own_part(error)
        line = _last_line(error, first)
        payload = wire.encode_text(_type_name(error), _message(error), _trace(error, first))
    except BaseException:  # noqa: BLE001  memory is full, or a class lies about itself
        if not isinstance(error, MemoryError):
            payload = wire.encode_text("Exception", "", "")
    channel.send(Kind.RAISED, 0, line.to_bytes(4, "little") + payload)


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
    # Without a frame of the learner's own, only the last lines say something to him.
    text = "".join(report.format(chain=False) if first else report.format_exception_only())
    return text[-wire.MAX_TEXT_BYTES :]
