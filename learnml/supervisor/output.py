"""One terminal for many parts: each line carries the name of the part that wrote it."""

from __future__ import annotations

import errno
import os
from typing import TextIO

NAME_WIDTH = 9
COLOURS = {
    "queue": 35,
    "cache": 35,
    "prepare": 33,
    "web": 32,
    "worker": 36,
    "control": 34,
    "scheduler": 90,
}
MAX_LINE_CHARACTERS = 4_000
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


class Output:
    """Writes lines with prefixes, coloured on a terminal unless NO_COLOR is set."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._coloured = stream.isatty() and "NO_COLOR" not in os.environ

    def part(self, name: str, line: str) -> None:
        """Write one line of a part."""
        text = line.rstrip("\r\n")[:MAX_LINE_CHARACTERS]
        prefix = f"{name:<{NAME_WIDTH}} |"
        if self._coloured and name in COLOURS:
            prefix = f"\x1b[{COLOURS[name]}m{prefix}\x1b[0m"
        self._write(f"{prefix} {text}\n")

    def say(self, text: str = "") -> None:
        """Write a line of the supervisor itself."""
        self._write(f"{text}\n")

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError as error:
            # A full disk under the log is no reason to stop what needs none.
            if error.errno not in NO_ROOM:
                raise
