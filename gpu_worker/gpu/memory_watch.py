"""Watches a device's memory in a child process, and says when more is in use than allowed.

`python -m gpu_worker.gpu.memory_watch UUID MEGABYTES` reads the device through NVIDIA's management
library, which this worker's own process never loads, writes one line when it has seen more in use,
and ends. Honest programs meet CuPy's own limit first; one that bypasses CuPy meets this watch.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from gpu_worker.gpu import nvml
from gpu_worker.sandbox.inside.layers import process

LOOK_SECONDS: Final = 0.05
OVER: Final = "over"


class MemoryWatch:
    """The watch over a device while it is entered. `descriptor` can be read once it has spoken."""

    def __init__(self, uuid: str, megabytes: int) -> None:
        self._words = [sys.executable, "-m", "gpu_worker.gpu.memory_watch", uuid, str(megabytes)]
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def descriptor(self) -> int:
        """The end of a pipe; it is at its end without a word where nothing can be watched."""
        assert self._child is not None  # noqa: S101  only while it is entered
        assert self._child.stdout is not None  # noqa: S101  a pipe was asked for
        return self._child.stdout.fileno()

    def __enter__(self) -> Self:
        self._child = subprocess.Popen(  # noqa: S603  a list, no shell; our own module
            self._words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
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


def watch(
    used_megabytes: Callable[[], int | None],
    most: int,
    pause: Callable[[float], None] = time.sleep,
) -> bool:
    """Look until more than `most` is in use: True; or until nothing can be read: False."""
    while (used := used_megabytes()) is not None:
        if used > most:
            return True
        pause(LOOK_SECONDS)
    return False


def main(uuid: str, most: int) -> int:
    process.die_with_parent(os.getppid())
    with nvml.opened(uuid) as device:
        if watch(device.used_megabytes, most):
            sys.stdout.write(f"{OVER}\n")
            sys.stdout.flush()
            return 0
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
