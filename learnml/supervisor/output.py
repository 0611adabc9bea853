"""One terminal for all parts: each line is prefixed with its part's name."""

from __future__ import annotations

import errno
import json
import os
from datetime import UTC, datetime
from typing import Any, TextIO

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
    """Writes lines with prefixes, coloured on a terminal unless NO_COLOR is set.

    With `LEARNML_LOG_FORMAT=json` each line is a JSON object instead, which names its part. Lines
    of parts that are not JSON, such as the queue's, become the message of one.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._coloured = stream.isatty() and "NO_COLOR" not in os.environ
        # Whether it is a format at all is checked with all other settings, later.
        self._is_json = os.environ.get("LEARNML_LOG_FORMAT", "").lower() == "json"

    def part(self, name: str, line: str) -> None:
        """Write one line of a part."""
        if self._is_json:
            self._write_json(name, line.rstrip("\r\n"))
            return
        text = line.rstrip("\r\n")[:MAX_LINE_CHARACTERS]
        prefix = f"{name:<{NAME_WIDTH}} |"
        if self._coloured and name in COLOURS:
            prefix = f"\x1b[{COLOURS[name]}m{prefix}\x1b[0m"
        self._write(f"{prefix} {text}\n")

    def say(self, text: str = "") -> None:
        """Write a line of the supervisor itself."""
        if self._is_json:
            if text:
                self._write_json("supervisor", text)
            return
        self._write(f"{text}\n")

    def _write_json(self, part: str, line: str) -> None:
        told = _object(line) or {
            "time": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
            "level": "info",
            "message": line[:MAX_LINE_CHARACTERS],
        }
        self._write(f"{json.dumps({**told, 'part': part}, ensure_ascii=False)}\n")

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError as error:
            # A full disk under the log is no reason to stop parts that need none.
            if error.errno not in NO_ROOM:
                raise


def _object(line: str) -> dict[str, Any] | None:
    """Return a line's JSON object, None if it is something else."""
    try:
        told = json.loads(line) if line.startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None
