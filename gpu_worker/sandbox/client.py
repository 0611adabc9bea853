"""The judge's side of the sandbox: keeps a zygote, sends it jobs, collects what comes back."""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from gpu_worker.sandbox import isolation
from gpu_worker.sandbox.inside.layers.limits import RunLimits
from gpu_worker.sandbox.inside.wire import Frame, FrameParser, WireError

START_TIMEOUT_SECONDS: Final = 30.0
GRACE_SECONDS: Final = 1.5
"""How long after the wall limit the judge waits for the supervisor before it kills everything."""
OUTPUT_DRAIN_BYTES: Final = 8 << 20
PIPE_BYTES: Final = 1 << 20
SCRATCH_PREFIX: Final = "learnml-runner-"

_INSIDE: Final = Path(__file__).parent / "inside"
_READ_BYTES: Final = 1 << 20
_ENVIRONMENT: Final = {
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}

logger = logging.getLogger(__name__)


class SandboxError(RuntimeError):
    """The sandbox itself failed; the submission is not to blame."""


@dataclass(frozen=True, slots=True)
class Request:
    """One run. Sizes in bytes, times in seconds.

    `result_bytes` bounds all frames together, `output_bytes` the printed text that is kept.
    `on_frame` is called with each frame as it arrives.
    """

    job: bytes
    wall_seconds: float
    cpu_seconds: float
    memory_bytes: int
    file_bytes: int
    output_bytes: int
    result_bytes: int
    on_frame: Callable[[Frame], None] | None = None
    job_descriptor: int | None = None
    """An open file that holds the job, in place of `job`; it stays the caller's."""


@dataclass(slots=True)
class RunResult:
    """What came back. Only `frames` and `output` are the learner's word; the rest is measured."""

    frames: list[Frame] = field(default_factory=list)
    forged: str = ""
    """Why the frames could not be read on, empty where they could."""
    output: bytes = b""
    output_total: int = 0
    overflow: str = ""
    """"output" or "result" where that limit ended the run."""
    ending: str = ""
    """"ended", "timed_out" or "cancelled"."""
    exit_code: int | None = None
    signal: int | None = None
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0


class Zygote:
    """A zygote process, started when first needed and replaced when dead.

    Start it from a process's main thread: it dies with the thread that made it. Not shared
    between threads: one run at a time.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._scratch = ""
        self._owner = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The zygote's process id, None while there is none."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the zygote if it does not run.

        Raises:
            SandboxError: it did not come up; the log holds its own words.
        """
        if self._owner == os.getpid() and self._process and self._process.poll() is None:
            return
        self.close()
        _remove_stale_scratch()
        self._owner = os.getpid()
        self._scratch = tempfile.mkdtemp(prefix=f"{SCRATCH_PREFIX}{self._owner}-")
        # Runners pass through to a folder of their own, but cannot list this one.
        os.chmod(self._scratch, 0o711)  # noqa: S103
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-I", str(_INSIDE), str(theirs.fileno()), str(self._owner)],
                env=_ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                cwd="/",
            )
        self._control = ours
        ours.settimeout(START_TIMEOUT_SECONDS)
        try:
            ready = ours.recv(64) == b"ready"
        except OSError:
            ready = False
        if not ready:
            self.close()
            raise SandboxError("The process that runs submissions did not start; see the log.")

    def close(self) -> None:
        """End the zygote and everything below it, and remove its folder."""
        if self._owner not in (0, os.getpid()):
            # Inherited by a fork: the parent's zygote is not ours to end.
            self._process = None
        if self._control:
            self._control.close()
        if self._process:
            self._process.kill()
            self._process.wait()
            shutil.rmtree(self._scratch, ignore_errors=True)
        self._process = self._control = None
        self._owner = 0

    def run(self, request: Request) -> RunResult:
        """Run one job in a fresh runner.

        Raises:
            SandboxError: the zygote or the supervisor failed, or could not be started.
        """
        self.start()
        with contextlib.ExitStack() as stack:
            result_fd, result_end = _pipe(stack)
            output_fd, output_end = _pipe(stack)
            status, status_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            stack.enter_context(status)
            with status_end:
                given = request.job_descriptor
                job_fd = _sealed_memory(request.job) if given is None else os.dup(given)
                self._order(request, [job_fd, result_end, output_end, status_end.fileno()])
                for descriptor in (job_fd, result_end, output_end):
                    os.close(descriptor)
            return self._collect(request, result_fd, output_fd, status)

    def _order(self, request: Request, descriptors: list[int]) -> None:
        limits = RunLimits(
            wall_seconds=request.wall_seconds,
            cpu_seconds=request.cpu_seconds,
            memory_bytes=request.memory_bytes,
            file_bytes=request.file_bytes,
            scratch=self._scratch,
            user=isolation.runner_user(),
        )
        for last_try in (False, True):
            if self._control is None:
                raise SandboxError("The process that runs submissions is gone.")
            try:
                socket.send_fds(self._control, [limits.to_bytes()], descriptors)
            except OSError as error:
                logger.warning("The zygote is gone (%s); starting another.", error)
                if last_try:
                    raise SandboxError("The process that runs submissions keeps dying.") from error
                self.close()
                self.start()
            else:
                return

    def _collect(
        self, request: Request, result_fd: int, output_fd: int, status: socket.socket
    ) -> RunResult:
        collector = _Collector(request, result_fd, output_fd, status)
        try:
            report = collector.collect()
        except SandboxError:
            # Nothing may go on running for a submission that was given up.
            self.close()
            raise
        result = collector.result
        result.ending = report["ending"]
        result.exit_code = report["exit_code"]
        result.signal = report["signal"]
        result.wall_seconds = report["wall_seconds"]
        result.cpu_seconds = report["cpu_seconds"]
        result.peak_bytes = report["peak_kilobytes"] * 1024
        return result


class _Collector:
    """Reads result, output and status of one run as they come, within limits."""

    def __init__(
        self, request: Request, result_fd: int, output_fd: int, status: socket.socket
    ) -> None:
        self.result = RunResult()
        self._request = request
        self._status = status
        self._parser = FrameParser(request.result_bytes)
        self._received = 0
        self._output = bytearray()
        self._report: dict[str, Any] | None = None
        self._selector = selectors.DefaultSelector()
        self._selector.register(result_fd, selectors.EVENT_READ, self._take_result)
        self._selector.register(output_fd, selectors.EVENT_READ, self._take_output)
        self._selector.register(status, selectors.EVENT_READ, self._take_status)

    def collect(self) -> dict[str, Any]:
        deadline = time.monotonic() + self._request.wall_seconds + GRACE_SECONDS
        with self._selector:
            while self._report is None:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    raise SandboxError("The supervisor did not answer in time.")
                self._read_once(remaining)
            # The runner is dead: what it wrote is in the pipes, whoever else holds their ends.
            while self._read_once(0):
                pass
        self.result.output = bytes(self._output)
        return self._report

    def _read_once(self, timeout: float) -> bool:
        events = self._selector.select(timeout)
        for key, _ in events:
            key.data(key.fd)
        return bool(events)

    def _take_status(self, descriptor: int) -> None:
        message = self._status.recv(4096)
        self._selector.unregister(self._status)
        if not message:
            raise SandboxError("The supervisor ended without a report.")
        self._report = json.loads(message)

    def _take_result(self, descriptor: int) -> None:
        data = os.read(descriptor, _READ_BYTES)
        if not data:
            self._selector.unregister(descriptor)
            return
        self._received += len(data)
        if self._received > self._request.result_bytes:
            self._overflow("result", descriptor)
            return
        try:
            for frame in self._parser.feed(data):
                self.result.frames.append(frame)
                if self._request.on_frame:
                    self._request.on_frame(frame)
        except WireError as error:
            self.result.forged = str(error)
            self._selector.unregister(descriptor)

    def _take_output(self, descriptor: int) -> None:
        data = os.read(descriptor, _READ_BYTES)
        if not data:
            self._selector.unregister(descriptor)
            return
        room = self._request.output_bytes - len(self._output)
        self._output += data[: max(room, 0)]
        self.result.output_total += len(data)
        if self.result.output_total > OUTPUT_DRAIN_BYTES:
            self._overflow("output", descriptor)

    def _overflow(self, what: str, descriptor: int) -> None:
        """Stop reading there, and have the supervisor kill the runner."""
        self.result.overflow = self.result.overflow or what
        self._selector.unregister(descriptor)
        with contextlib.suppress(OSError):
            self._status.shutdown(socket.SHUT_WR)


def _pipe(stack: contextlib.ExitStack) -> tuple[int, int]:
    """Return a roomy pipe; the read end is closed with the stack, the write end by the caller."""
    read_end, write_end = os.pipe()
    stack.callback(os.close, read_end)
    with contextlib.suppress(OSError):
        # An ordinary user may be over his share of pipe memory; the default works too.
        fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return read_end, write_end


def _sealed_memory(data: bytes) -> int:
    """Return a descriptor of an anonymous file with the data, which nobody can change."""
    descriptor = os.memfd_create("job", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


def _remove_stale_scratch() -> None:
    """Remove folders of workers that were killed before they could."""
    for folder in Path(tempfile.gettempdir()).glob(f"{SCRATCH_PREFIX}*-*"):
        owner = folder.name.removeprefix(SCRATCH_PREFIX).partition("-")[0]
        if owner.isdecimal() and not Path("/proc", owner).exists():
            shutil.rmtree(folder, ignore_errors=True)
