"""The worker's side of a referee: starts it, sends it commands, and ends it when done."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from types import TracebackType
from typing import IO, Any, Final, Self

from gpu_worker.gpu.examination import environment_of
from gpu_worker.gpu.inventory import Gpu
from gpu_worker.gpu.referee import Errand, Worst
from gpu_worker.sandbox.errors import SandboxError

ANSWER_SECONDS: Final = 30.0
"""The first answer also waits for the driver, and for the reference's kernels to be compiled."""
_PINGS: Final = 20
_MAX_COMPLAINT: Final = 1_000


class RefereeProcess:
    """A referee for one errand, while it is entered. `descriptor` is the job's memory."""

    def __init__(self, gpu: Gpu, descriptor: int, errand: Errand, kernels: str = "") -> None:
        """`kernels` is the folder of kernels compiled ahead, empty for none."""
        self._words = [sys.executable, "-m", "gpu_worker.gpu.referee", str(descriptor)]
        self._descriptor = descriptor
        self._environment = environment_of(gpu, kernels)
        self._errand = errand
        self._child: subprocess.Popen[bytes] | None = None
        self._complaints: IO[bytes] | None = None

    def __enter__(self) -> Self:
        self._complaints = tempfile.TemporaryFile()
        self._child = subprocess.Popen(  # noqa: S603  a list, no shell; our own module
            self._words,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            pass_fds=[self._descriptor],
            start_new_session=True,
        )
        self._write(self._errand.model_dump_json())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
        if self._complaints is not None:
            self._complaints.close()

    def draw(self, direction: str) -> None:
        """Have the direction's next input written into the job's memory."""
        self._ask(f"draw {direction}")

    def flush(self) -> None:
        """Have the device's caches emptied of what could be of use."""
        self._ask("flush")

    def own(self, direction: str) -> tuple[float, float]:
        """Return the seconds of a copy of the input, and of the reference's call on it."""
        found = self._ask(f"own {direction}")
        return float(found["copy"]), float(found["reference"])

    def check(self) -> list[Worst]:
        """Return the worst element of each result in the job's memory."""
        return [Worst.model_validate(item) for item in self._ask("check")]

    def round_trip(self) -> float:
        """Return the seconds that asking for nothing takes, the shortest of some."""
        times = []
        for _ in range(_PINGS):
            begun = time.perf_counter()
            self._ask("ping")
            times.append(time.perf_counter() - begun)
        return min(times)

    def _ask(self, command: str) -> Any:
        """Send a command and return its answer.

        Raises:
            SandboxError: the process does not answer, or has ended; the text says why.
        """
        self._write(command)
        child = self._child
        assert child is not None  # noqa: S101  only while it is entered
        assert child.stdout is not None  # noqa: S101  a pipe was asked for
        data = b""
        deadline = time.monotonic() + ANSWER_SECONDS
        while not data.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([child.stdout], [], [], left)[0]:
                raise SandboxError(f"The judge's process on the device did not answer: {command}.")
            part = os.read(child.stdout.fileno(), 1 << 16)
            if not part:
                raise SandboxError(f"The judge's process on the device ended: {self._words_of()}.")
            data += part
        return json.loads(data)

    def _write(self, line: str) -> None:
        assert self._child is not None  # noqa: S101  only while it is entered
        assert self._child.stdin is not None  # noqa: S101  a pipe was asked for
        try:
            self._child.stdin.write(line.encode() + b"\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            raise SandboxError(
                f"The judge's process on the device ended: {self._words_of()}."
            ) from None

    def _words_of(self) -> str:
        if self._complaints is None:
            return "it was not started"
        self._complaints.seek(0)
        words = self._complaints.read(_MAX_COMPLAINT).decode("utf-8", "replace").strip()
        return words or "it gave no reason"
