"""Runs a command for at most so many seconds, and ends everything that it left behind.

    python -I contained.py SECONDS COMMAND...     exits as the command does, with 124 out of time

What loses its parent in between becomes a child of this process, whatever session it is in.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

OUT_OF_TIME = 124
_SUBREAPER = 36


def main(seconds: float, command: list[str]) -> int:
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        try:
            return child.wait(seconds)
        except subprocess.TimeoutExpired:
            return OUT_OF_TIME
    finally:
        _end_children()


def _end_children() -> None:
    """Kill and see off children until there are none: theirs come to this process."""
    while children := _children():
        for pid in children:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in children:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _children() -> list[int]:
    return list(map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()))


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
