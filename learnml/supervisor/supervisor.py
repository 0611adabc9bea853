"""The main loop: forwards output, restarts parts that died, stops everything in order."""

from __future__ import annotations

import codecs
import contextlib
import os
import selectors
import signal
import time
from types import FrameType

from .config import Config, StartError
from .output import Output
from .part import Part, exit_text
from .processes import ProcessSpec
from .watchdog import Watchdog

STOP_SECONDS = 4.0
QUEUE_STOP_SECONDS = 2.0
IDLE_SECONDS = 1.0
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(Exception):
    """A stop signal arrived during a wait."""


class Supervisor:
    """Runs parts until a signal arrives. A context manager: leaving it stops everything."""

    def __init__(self, config: Config, output: Output) -> None:
        self._config = config
        self._output = output
        self._selector = selectors.DefaultSelector()
        self._parts: list[Part] = []
        self._rests: dict[str, str] = {}
        self._decoders: dict[str, codecs.IncrementalDecoder] = {}
        self._signals = 0
        self._watchdog = Watchdog()
        self.is_up = False
        """Whether the first page has been answered: from then on no part ends the others."""

    def __enter__(self) -> Supervisor:
        waking, woken = os.pipe()
        for descriptor in (waking, woken):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        self._selector.register(waking, selectors.EVENT_READ, None)
        for number in STOP_SIGNALS:
            signal.signal(number, self._on_signal)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._stop_everything()
        finally:
            for part in self._parts:
                part.kill()
            self._watchdog.dismiss()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1

    @property
    def stopping(self) -> bool:
        return self._signals > 0

    # --- starting ---------------------------------------------------------------------------
    def add(self, spec: ProcessSpec) -> None:
        """Start a part and keep it running."""
        part = Part(spec, self._config.base_dir, self._watchdog)
        self._parts.append(part)
        self._start(part)

    def run_once(self, spec: ProcessSpec) -> int:
        """Run a command to its end, forwarding its output. Return its exit code.

        Raises:
            Stopped: a signal came meanwhile; the command has been ended.
        """
        part = Part(spec, self._config.base_dir, self._watchdog)
        self._start(part)
        try:
            while (code := part.exit_code()) is None:
                self.turn(IDLE_SECONDS)
                if self.stopping:
                    raise Stopped
            self._drain(part)
            return code
        finally:
            self._forget(part)

    def is_running(self, name: str) -> bool:
        return any(part.name == name and part.is_running() for part in self._parts)

    def _start(self, part: Part) -> None:
        try:
            descriptor = part.start()
        except OSError as error:
            raise StartError(
                f"{part.name} cannot be started: {part.spec.command[0]}: {error.strerror}."
            ) from error
        self._decoders[part.name] = codecs.getincrementaldecoder("utf-8")("replace")
        self._selector.register(descriptor, selectors.EVENT_READ, part)

    # --- the loop -----------------------------------------------------------------------------
    def turn(self, seconds: float) -> None:
        """Wait at most `seconds` for events, and handle them."""
        for key, _ in self._selector.select(self._until_next_start(seconds)):
            if key.data is None:
                with contextlib.suppress(BlockingIOError):
                    os.read(key.fd, 4096)
            elif not self._forward(key.data):
                self._selector.unregister(key.fd)
        if not self.stopping:
            self._look_after_parts()

    def run(self) -> None:
        """Supervise the parts until a signal asks to stop."""
        while not self.stopping:
            self.turn(IDLE_SECONDS)

    def _until_next_start(self, seconds: float) -> float:
        now = time.monotonic()
        starts = [part.start_again_at - now for part in self._parts if part.start_again_at]
        return max(0.0, min([seconds, *starts]))

    def _look_after_parts(self) -> None:
        now = time.monotonic()
        for part in self._parts:
            if part.start_again_at is not None:
                if now >= part.start_again_at:
                    self._start_again(part)
            elif (code := part.exit_code()) is not None:
                self._drain(part)
                # Its remaining children may hold its port or its task.
                self._forget(part)
                delay = part.plan_restart(now, code)
                if part.is_failing and part.spec.early and not self.is_up:
                    raise StartError(f"{failing_text(part, code)}So everything was stopped.")
                if part.is_failing:
                    self._output.say(
                        f"{failing_text(part, code)}The others go on; trying again in {delay:g} s."
                    )
                else:
                    self._output.say(
                        f"{part.name} ended ({exit_text(code)}); starting it again in {delay:g} s."
                    )

    def _start_again(self, part: Part) -> None:
        try:
            self._start(part)
        except StartError as error:
            # A temporary shortage, such as of memory.
            if not self.is_up:
                raise
            delay = part.plan_restart(time.monotonic(), 1)
            self._output.say(f"{error} Trying again in {delay:g} s.")

    def _forget(self, part: Part) -> None:
        for key in list(self._selector.get_map().values()):
            if key.data is part:
                self._selector.unregister(key.fd)
        part.kill()
        self._flush(part)

    # --- output -------------------------------------------------------------------------------
    def _forward(self, part: Part) -> bool:
        data = part.read()
        if data is None:
            return False
        text = self._rests.get(part.name, "") + self._decoders[part.name].decode(data)
        *lines, self._rests[part.name] = text.split("\n")
        for line in lines:
            self._write(part, line)
        return True

    def _drain(self, part: Part) -> None:
        while (data := part.read()) is not None and data:
            text = self._rests.get(part.name, "") + self._decoders[part.name].decode(data)
            *lines, self._rests[part.name] = text.split("\n")
            for line in lines:
                self._write(part, line)

    def _flush(self, part: Part) -> None:
        if rest := self._rests.pop(part.name, ""):
            self._write(part, rest)

    def _write(self, part: Part, line: str) -> None:
        if any(text in line for text in part.spec.not_shown):
            return
        part.last_lines.append(line)
        self._output.part(part.name, line)

    # --- stopping -----------------------------------------------------------------------------
    def _stop_everything(self) -> None:
        # The queue stops last: the others disconnect from it.
        queue = [part for part in self._parts if part.name == "queue"]
        others = [part for part in self._parts if part.name != "queue"]
        self._stop(others, STOP_SECONDS)
        self._stop(queue, QUEUE_STOP_SECONDS)

    def _stop(self, parts: list[Part], seconds: float) -> None:
        signals_so_far = self._signals
        for part in parts:
            part.ask_to_stop()
        deadline = time.monotonic() + seconds
        self._signals = max(self._signals, 1)
        while any(part.is_running() for part in parts) and time.monotonic() < deadline:
            if self._signals > max(signals_so_far, 1):
                break  # asked a second time: at once
            self.turn(0.1)
        for part in parts:
            self._forget(part)


def failing_text(part: Part, code: int) -> str:
    """Say that a part keeps failing, with its last output."""
    lines = "".join(f"\n  {line}" for line in part.last_lines) or " none."
    return (
        f"{part.name} ended {part.ends_in_a_row} times in a row soon after its start "
        f"({exit_text(code)}). Its last lines:{lines}\n"
    )
