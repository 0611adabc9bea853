"""A running part: starting, reading its output, stopping, and when to restart."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import deque
from pathlib import Path

from .processes import ProcessSpec
from .watchdog import Watchdog, die_with_parent, kill_group

FIRST_DELAY_SECONDS = 0.5
LONGEST_DELAY_SECONDS = 60.0
# A part that ran this long was well; its next failure counts as the first. No less than the longest
# pause: what ends after half a minute, again and again, is not started more often than that either.
STABLE_SECONDS = LONGEST_DELAY_SECONDS
# One that ends by itself so often in a row, each time sooner than that, needs somebody to look.
FAILING_AFTER_ENDS = 5
LAST_LINES_KEPT = 15


class Part:
    """A child process with its own process group, so that all of it can be stopped."""

    def __init__(self, spec: ProcessSpec, folder: Path, watchdog: Watchdog) -> None:
        self.spec = spec
        self.failures = 0
        self.ends_in_a_row = 0
        self.last_lines: deque[str] = deque(maxlen=LAST_LINES_KEPT)
        self.start_again_at: float | None = None
        self._folder = folder
        self._watchdog = watchdog
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at = 0.0

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def start(self) -> int:
        """Start the process. Return the descriptor to read its output from."""
        parent = os.getpid()
        self.start_again_at = None
        self._started_at = time.monotonic()
        self._process = subprocess.Popen(  # noqa: S603  commands come from processes.py
            self.spec.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=self._folder,
            env=self.spec.environment,
            start_new_session=True,
            # The supervisor has one thread, so running Python between fork and exec is safe.
            preexec_fn=lambda: die_with_parent(parent),
        )
        self._watchdog.add(self._process.pid)
        if self._process.stdout is None:
            raise RuntimeError("a child process was started without a pipe")
        os.set_blocking(self._process.stdout.fileno(), False)
        return self._process.stdout.fileno()

    def read(self) -> bytes | None:
        """Return new output, b"" if there is none now, None at its end."""
        if self._process is None or self._process.stdout is None:
            return None
        try:
            return os.read(self._process.stdout.fileno(), 65536) or None
        except BlockingIOError:
            return b""

    def exit_code(self) -> int | None:
        """Return the exit code once the process has ended; None while it runs or never ran."""
        return self._process.poll() if self._process else None

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def ask_to_stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the whole process group at once, and forget the process."""
        if self._process is None:
            return
        kill_group(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._watchdog.remove(self._process.pid)
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._process = None

    @property
    def is_failing(self) -> bool:
        """Return whether the part ended by itself at each recent start; being killed does not
        count.

        It is restarted all the same: a full disk, say, may get space again, and the others go on.
        """
        return self.ends_in_a_row >= FAILING_AFTER_ENDS

    def plan_restart(self, now: float, code: int) -> float:
        """Record an exit with this code; return the seconds to wait before restarting."""
        if now - self._started_at > STABLE_SECONDS:
            self.failures = self.ends_in_a_row = 0
        self.ends_in_a_row = self.ends_in_a_row + 1 if code >= 0 else 0
        # A thousand failures would be beyond what a float holds.
        delay = min(FIRST_DELAY_SECONDS * 2.0 ** min(self.failures, 16), LONGEST_DELAY_SECONDS)
        self.failures += 1
        self.start_again_at = now + delay
        return delay


def exit_text(code: int) -> str:
    """Describe how a process ended."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
