"""The judge's side of a zygote: starts it, sends it jobs, replaces it when it dies."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from gpu_worker.sandbox import stand_in
from gpu_worker.sandbox.errors import SandboxError
from gpu_worker.sandbox.inside.layers.limits import RunLimits
from gpu_worker.sandbox.inside.zygote import READY
from gpu_worker.sandbox.pipes import pipe, sealed_memory
from gpu_worker.sandbox.run import Collector, Request, RunResult
from gpu_worker.sandbox.setup import Setup

START_TIMEOUT_SECONDS: Final = 30.0
SCRATCH_PREFIX: Final = "learnml-runner-"
_MAX_COMPLAINT: Final = 1_000
_ENVIRONMENT: Final = {
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}

logger = logging.getLogger(__name__)


class ZygoteProcess:
    """A zygote process behind given walls, started when first needed and replaced when dead.

    Start it from a process's main thread: it dies with the thread that made it. Not shared
    between threads: one run at a time.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._scratch = ""
        self._owner = 0
        self.builds = ""
        """Where runners find what was built for them, empty for nowhere; see `inside.building`."""

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
        """The id of the process that was started, of bubblewrap or of the zygote itself."""
        return self._process.pid if self._process else None

    @property
    def is_running(self) -> bool:
        """True if this process started it and it has not ended."""
        running = self._process is not None and self._process.poll() is None
        return running and self._owner == os.getpid()

    def start(self) -> None:
        """Start the zygote if it does not run.

        Raises:
            SandboxError: it did not come up; the text ends with its own words.
        """
        if self.is_running:
            return
        self.close()
        self._owner = os.getpid()
        if self._setup.scratch:
            self._scratch = _make_scratch(self._owner)
        self.builds = _make_builds() if self._setup.builds_kernels else ""
        with tempfile.TemporaryFile() as complaints:
            self._launch(complaints)
            if not self._shakes_hands():
                self.close()
                complaints.seek(0)
                # The last line of a traceback gives the reason.
                words = complaints.read().decode("utf-8", "replace")[-_MAX_COMPLAINT:].split("\n")
                reason = "; ".join(word.strip() for word in words if word.strip())
                raise SandboxError(
                    f"The process that runs submissions did not start: {reason or 'no reason'}."
                )

    def _launch(self, complaints: IO[bytes]) -> None:
        interpreter = self._setup.interpreter()
        walls = self._setup.walls(interpreter, self.builds).to_bytes()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603
                self._setup.command(interpreter, theirs.fileno(), self.builds),
                env={**_ENVIRONMENT, **self._setup.environment()},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                cwd="/",
            )
        self._control = ours
        ours.settimeout(START_TIMEOUT_SECONDS)
        with contextlib.suppress(OSError):
            ours.send(walls)

    def _shakes_hands(self) -> bool:
        try:
            return self._control is not None and self._control.recv(64) == READY
        except OSError:
            return False

    def close(self) -> None:
        """End the zygote and everything below it, and remove its folder."""
        if self._owner not in (0, os.getpid()):
            # This process is a fork: its parent's zygote is not ours to end.
            self._process, self._scratch, self.builds = None, "", ""
        if self._process:
            self._process.kill()
            self._process.wait()
        if self._control:
            self._control.close()
        for folder in (self._scratch, self.builds):
            if folder:
                shutil.rmtree(folder, ignore_errors=True)
        self._process = self._control = None
        self._scratch = self.builds = ""
        self._owner = 0

    def run(self, request: Request) -> RunResult:
        """Run one job in a fresh runner.

        Raises:
            SandboxError: the zygote or the supervisor failed, or could not be started.
        """
        self.start()
        with contextlib.ExitStack() as stack:
            result_fd, result_end = pipe(stack)
            output_fd, output_end = pipe(stack)
            status, status_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            stack.enter_context(status)
            with status_end:
                job_fd = _job_memory(request)
                try:
                    self._order(request, [job_fd, result_end, output_end, status_end.fileno()])
                finally:
                    for descriptor in (job_fd, result_end, output_end):
                        os.close(descriptor)
            try:
                return Collector(request, result_fd, output_fd, status).collect()
            except SandboxError:
                # Nothing may keep running for a submission that was abandoned.
                self.close()
                raise

    def _order(self, request: Request, descriptors: list[int]) -> None:
        for last_try in (False, True):
            limits = RunLimits(
                wall_seconds=request.wall_seconds,
                cpu_seconds=request.cpu_seconds,
                memory_bytes=request.memory_bytes,
                file_bytes=request.file_bytes,
                scratch=self._scratch,
                patience_seconds=request.patience_seconds,
            )
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


def _make_scratch(owner: int) -> str:
    """Make the folder for runs' folders, and remove those of workers killed before they could."""
    _remove_left_behind(SCRATCH_PREFIX, tempfile.gettempdir())
    made = tempfile.mkdtemp(prefix=f"{SCRATCH_PREFIX}{owner}-")
    # Runners may pass through to their own folder, but cannot list this one.
    os.chmod(made, 0o711)  # noqa: S103
    return made


def _make_builds() -> str:
    """Make the folder for built kernels, likewise; empty if there is no place for one."""
    made = stand_in.make_builds_folder()
    if made:
        _remove_left_behind(stand_in.BUILDS_PREFIX, os.path.dirname(made))
    return made


def _remove_left_behind(prefix: str, place: str) -> None:
    for folder in Path(place).glob(f"{prefix}*-*"):
        process = folder.name.removeprefix(prefix).partition("-")[0]
        if process.isdecimal() and not Path("/proc", process).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _job_memory(request: Request) -> int:
    """Return a descriptor of the job: to be read only, unless the request says otherwise."""
    if request.job_descriptor is None:
        return sealed_memory(request.job)
    rights = os.O_RDWR if request.job_writable else os.O_RDONLY
    return os.open(f"/proc/self/fd/{request.job_descriptor}", rights | os.O_CLOEXEC)
