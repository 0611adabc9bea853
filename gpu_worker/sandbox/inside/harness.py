"""Loads the learner's file in the runner, runs the cases on its class, sends frames back.

From the moment the learner's code starts, nothing in this process can be trusted: what it sends is
data to be judged, not a verdict.
"""

from __future__ import annotations

import io
import linecache
import os
import random
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any

import numpy as np

from . import stand_in, timed, wire
from .building import Builder
from .channel import Channel, send_raised
from .libraries import CupyLibrary, NumpyLibrary
from .script import SUBMISSION, RefusalError, last_contents, play
from .wire import CaseScript, FrameKind, Job, Operation, Reason


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
        # Names with an underscore are internal to the standard library, and not all listed.
        if package.startswith("_") or package in sys.stdlib_module_names:
            return
        if package in self._library.left_out:
            raise ForbiddenImportError(self._library.left_out[package].format(package))
        if package not in self._library.packages:
            raise ForbiddenImportError(
                f"The package {package} is not available here; only {self._library.offer} can be "
                "imported."
            )


def main(job_descriptor: int, result_descriptor: int) -> None:
    """Play the whole job. Returns when all is sent."""
    channel = Channel(result_descriptor)
    job = _read_job(job_descriptor)
    _fresh_streams()
    _fresh_randomness()
    try:
        if job.library == "cupy":
            builder = Builder(
                lambda number, payload: channel.send(FrameKind.BUILD, number, payload),
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
        channel.send(FrameKind.REFUSED, 0, bytes([refusal.reason]) + wire.encode_text(refusal.text))
    except BaseException as error:  # noqa: BLE001  a learner's file may raise anything
        send_raised(channel, error)
    else:
        if job.timed:
            player = _device_player() if job.library == "device" else timed.play_timed
            player(channel, cls, job, job_descriptor)
        for number, case in enumerate(() if job.timed else job.cases):
            channel.begin_case(number, case)
            channel.send(FrameKind.BEGIN)
            _play_case(channel, cls, case, counted=job.counted)
    channel.send_notes(0)
    channel.case = 0
    channel.send(FrameKind.END)
    sys.stdout.flush()
    sys.stderr.flush()


def _device_library() -> NumpyLibrary:
    # Only loaded by a zygote for a device, since no other gets such jobs.
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
            # Traffic of the constructor belongs to no call.
            channel.send_notes(position - 1)
        channel.library.poison(arrays)
        channel.send(FrameKind.CALL, position)

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
        channel.send(FrameKind.REFUSED, place, payload)
    except BaseException as error:  # noqa: BLE001  a learner's class may raise anything
        send_raised(channel, error)
    channel.send_notes(place)
