"""One run: what is asked for, and what comes back, read as it comes and within limits."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from gpu_worker.sandbox.errors import SandboxError
from gpu_worker.sandbox.inside.supervisor import CHARGED, EXCUSED, SETUP_SECONDS
from gpu_worker.sandbox.inside.wire import Frame, FrameParser, WireError

GRACE_SECONDS: Final = 1.5
"""How long after its patience ends the judge waits for the supervisor before it kills everything.
"""
PATIENCE_SECONDS: Final = 45.0
"""How long a run may take by the clock, while it has used up neither its processor time nor what it
may wait: on a machine that has no more for it. Below a task's hard time limit."""
_EXCUSE_LOOK_SECONDS: Final = 0.1
OUTPUT_DRAIN_BYTES: Final = 8 << 20
MAX_FRAMES: Final = 50_000
"""Far more than any job needs: small frames cost the judge more memory than their size."""
_READ_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Request:
    """One run. Sizes in bytes, times in seconds.

    `result_bytes` bounds all frames together, `output_bytes` the printed text that is kept.
    `on_frame` is called with each frame as it arrives, and answers True to have the run ended.
    `wall_seconds` bounds what the program computes and waits, as far as it waits for nobody else:
    `is_awaited` tells whether it waits for the judge.
    """

    job: bytes
    wall_seconds: float
    cpu_seconds: float
    memory_bytes: int
    file_bytes: int
    output_bytes: int
    result_bytes: int
    on_frame: Callable[[Frame], bool | None] | None = None
    job_descriptor: int | None = None
    """Memory that holds the job, in place of `job`; it stays the caller's, who may write on."""
    job_writable: bool = False
    """The runner may write to that memory too: results come back in it."""
    ender: int | None = None
    """A descriptor that ends the run when something is read from it, for a watch outside."""
    grace_seconds: float = GRACE_SECONDS
    patience_seconds: float = PATIENCE_SECONDS
    is_awaited: Callable[[], bool] | None = None


@dataclass(slots=True)
class RunResult:
    """What came back. Only `frames` and `output` are the learner's word; the rest is measured."""

    frames: list[Frame] = field(default_factory=list)
    forged: str = ""
    """Why reading frames failed, which ended the run; empty if it did not."""
    output: bytes = b""
    output_total: int = 0
    overflow: str = ""
    """"output" or "result" where that limit ended the run, "frame" where `on_frame` did, "ender"
    where the request's `ender` did."""
    ending: str = ""
    """"ended", "timed_out", "starved", "out_of_memory" or "cancelled"."""
    exit_code: int | None = None
    signal: int | None = None
    setup_seconds: float = 0.0
    """How long it took to apply the layers, before `wall_seconds` began."""
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    waited_seconds: float = 0.0
    """How long it waited by choice: neither for the judge nor for its turn on a busy machine."""
    peak_bytes: int = 0

    @property
    def own_seconds(self) -> float:
        """What counts towards the limit `wall_seconds`."""
        return self.cpu_seconds + self.waited_seconds


class Collector:
    """Reads result, output and status of one run as they come, within limits."""

    def __init__(
        self, request: Request, result_fd: int, output_fd: int, status: socket.socket
    ) -> None:
        self._result = RunResult()
        self._request = request
        self._status = status
        self._parser = FrameParser(request.result_bytes)
        self._received = 0
        self._output = bytearray()
        self._report: dict[str, Any] | None = None
        self._excused = False
        # The buffer is reused: a new megabyte for each of thousands of reads costs more.
        self._room = memoryview(bytearray(_READ_BYTES))
        self._selector = selectors.DefaultSelector()
        self._selector.register(result_fd, selectors.EVENT_READ, self._take_result)
        self._selector.register(output_fd, selectors.EVENT_READ, self._take_output)
        self._selector.register(status, selectors.EVENT_READ, self._take_status)
        if request.ender is not None:
            self._selector.register(request.ender, selectors.EVENT_READ, self._take_end)

    def collect(self) -> RunResult:
        """Return what came back, once the runner is dead.

        Raises:
            SandboxError: the supervisor did not report, or the layers could not be put on.
        """
        deadline = (
            time.monotonic()
            + SETUP_SECONDS
            + self._request.patience_seconds
            + self._request.grace_seconds
        )
        with self._selector:
            while self._report is None:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    raise SandboxError("The supervisor did not answer in time.")
                self._say_who_is_awaited()
                rest = min(remaining, _EXCUSE_LOOK_SECONDS) if self._excused else remaining
                self._read_once(rest)
            # The runner is dead, so all its output is in the pipes, whoever else holds their ends.
            while self._read_once(0):
                pass
        self._take_measures(self._report)
        return self._result

    def _say_who_is_awaited(self) -> None:
        """Tell the supervisor when the runner begins to wait for the judge, and when it ends."""
        awaited = bool(self._request.is_awaited and self._request.is_awaited())
        if awaited is not self._excused:
            self._excused = awaited
            with contextlib.suppress(OSError):
                self._status.send(EXCUSED if awaited else CHARGED)

    def _take_measures(self, report: dict[str, Any]) -> None:
        if complaint := report["setup_error"]:
            raise SandboxError(f"The layers of isolation could not be put on: {complaint}.")
        result = self._result
        result.output = bytes(self._output)
        result.ending = report["ending"]
        result.exit_code = report["exit_code"]
        result.signal = report["signal"]
        result.setup_seconds = report["setup_seconds"]
        result.wall_seconds = report["wall_seconds"]
        result.cpu_seconds = report["cpu_seconds"]
        result.waited_seconds = report["waited_seconds"]
        result.peak_bytes = report["peak_kilobytes"] * 1024

    def _read_once(self, timeout: float) -> bool:
        events = self._selector.select(timeout)
        for key, _ in events:
            key.data(key.fd)
        return bool(events)

    def _take_status(self, descriptor: int) -> None:
        try:
            message = self._status.recv(8192)
        except ConnectionResetError:
            # It ended before it read who is waiting. That message comes first, its report after it.
            message = self._status.recv(8192)
        self._selector.unregister(self._status)
        if not message:
            raise SandboxError("The supervisor ended without a report.")
        self._report = json.loads(message)

    def _take_result(self, descriptor: int) -> None:
        count = os.readv(descriptor, [self._room])
        if not count:
            self._selector.unregister(descriptor)
            return
        self._received += count
        if self._received > self._request.result_bytes:
            self._overflow("result", descriptor)
            return
        try:
            for frame in self._parser.feed(self._room[:count]):
                if len(self._result.frames) >= MAX_FRAMES:
                    raise WireError("more frames than any job asks for")
                self._result.frames.append(frame)
                if self._request.on_frame and self._request.on_frame(frame):
                    self._overflow("frame", descriptor)
                    return
        except WireError as error:
            self._result.forged = str(error)
            # Nothing that it sends is read from now on, so it would only wait for its time limit.
            self._hang_up(descriptor)

    def _take_end(self, descriptor: int) -> None:
        if os.read(descriptor, _READ_BYTES):
            self._overflow("ender", descriptor)
        else:
            # The watch has ended: it sees nothing any more.
            self._selector.unregister(descriptor)

    def _take_output(self, descriptor: int) -> None:
        data = os.read(descriptor, _READ_BYTES)
        if not data:
            self._selector.unregister(descriptor)
            return
        room = self._request.output_bytes - len(self._output)
        self._output += data[: max(room, 0)]
        self._result.output_total += len(data)
        if self._result.output_total > OUTPUT_DRAIN_BYTES:
            self._overflow("output", descriptor)

    def _overflow(self, what: str, descriptor: int) -> None:
        """Note which limit ended the run, and end it."""
        self._result.overflow = self._result.overflow or what
        self._hang_up(descriptor)

    def _hang_up(self, descriptor: int) -> None:
        """Stop reading there, and have the supervisor kill the runner."""
        self._selector.unregister(descriptor)
        with contextlib.suppress(OSError):
            self._status.shutdown(socket.SHUT_WR)
