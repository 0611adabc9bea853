"""Watches the transactions of all tests: none may do slow work while it keeps others from writing.

SQLite has one writer. A transaction takes its place at its beginning and keeps it to its end, so
what it does in between, everybody waits for. What takes long is therefore done before: rendering,
grading, hashing passwords, starting programs, asking others over the network.

Those calls are counted, and the processor time of the thread is measured: by the clock a busy
machine would look like a mistake.
"""

from __future__ import annotations

import contextlib
import functools
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Final
from unittest import mock

PROJECT: Final = Path(__file__).resolve().parent.parent
MAX_PROCESSOR_SECONDS: Final = 1.0
"""Ten times what a transaction may hold on a free core: here cores are shared, and slower."""

_mine = threading.local()


@dataclass
class Held:
    """One transaction, from the outermost `atomic` to its end."""

    where: str
    begun: float
    slow_calls: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def complaint(self) -> str:
        """Return what is wrong with it, "" for nothing."""
        if self.slow_calls:
            return f"{self.where}: a transaction {', '.join(sorted(set(self.slow_calls)))}."
        if self.seconds > MAX_PROCESSOR_SECONDS:
            return f"{self.where}: a transaction computed for {self.seconds:.2f} s."
        return ""


class WriteWatch:
    """All transactions of this process, in all its threads, while `watching`."""

    def __init__(self) -> None:
        self.ended: list[Held] = []

    def complaints(self) -> list[str]:
        """Return what is wrong with those that ended since this was last asked."""
        ended, self.ended = self.ended, []
        return [said for held in ended if (said := held.complaint())]

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        from django.db.transaction import Atomic

        with contextlib.ExitStack() as patches:
            for owner, name, made in (
                (Atomic, "__enter__", self._entering(Atomic.__enter__)),
                (Atomic, "__exit__", self._leaving(Atomic.__exit__)),
                *_slow_calls(),
            ):
                patches.enter_context(mock.patch.object(owner, name, made))
            yield

    def _entering(self, enter: Callable[[Any], None]) -> Callable[[Any], None]:
        def entering(atomic: Any) -> None:
            enter(atomic)
            if not _open() and not _is_of_a_test(atomic):
                _open().append((atomic, Held(_place(sys._getframe(1)), time.thread_time())))

        return entering

    def _leaving(self, leave: Callable[..., Any]) -> Callable[..., Any]:
        def leaving(atomic: Any, *error: Any) -> Any:
            try:
                return leave(atomic, *error)
            finally:
                if _open() and _open()[0][0] is atomic:
                    _, held = _open().pop()
                    held.seconds = time.thread_time() - held.begun
                    self.ended.append(held)

        return leaving


def _slow_calls() -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    """Yield what takes long, whoever calls it, each in a version that notes the call."""
    from django.contrib.auth.hashers import MD5PasswordHasher
    from django.core.mail import EmailMessage

    from courses.rendering.markdown_text import TextRenderer
    from gpu_worker.sandbox.zygote import ZygoteProcess

    for owner, name, text in (
        (TextRenderer, "__init__", "renders"),
        (subprocess.Popen, "__init__", "starts a program"),
        (ZygoteProcess, "run", "runs a program in the sandbox"),
        (MD5PasswordHasher, "encode", "hashes a password"),
        (EmailMessage, "send", "sends mail"),
        (socket.socket, "connect", "asks over the network"),
        (time, "sleep", "sleeps"),
    ):
        yield owner, name, _noting(getattr(owner, name), text)


def _noting(call: Callable[..., Any], text: str) -> Callable[..., Any]:
    @functools.wraps(call)
    def noting(*args: Any, **options: Any) -> Any:
        if _open():
            _open()[0][1].slow_calls.append(text)
        return call(*args, **options)

    return noting


def _open() -> list[tuple[Any, Held]]:
    """Return this thread's outermost transaction, in a list that is empty where there is none."""
    if not hasattr(_mine, "open"):
        _mine.open = []
    return _mine.open  # type: ignore[no-any-return]


def _is_of_a_test(atomic: Any) -> bool:
    """Tell the transaction that a test runs in from those of what is tested."""
    return bool(getattr(atomic, "_from_testcase", False)) or "test" in _place(sys._getframe(2))


def _place(frame: FrameType | None) -> str:
    """Return the nearest place in the project that the call came from."""
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(PROJECT) and not any(part.startswith(".") for part in path.parts):
            return f"{path.relative_to(PROJECT)}, {frame.f_code.co_qualname}"
        frame = frame.f_back
    return "code of others"
