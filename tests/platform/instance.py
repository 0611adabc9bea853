"""A whole LearnML, started as a user starts it, for tests that need the real thing."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

PROJECT = Path(__file__).resolve().parent.parent.parent
T = TypeVar("T")
DEMO_PASSWORD = "demo-password-of-the-tests"
READY = re.compile(r"LearnML is ready after ([0-9.]+) s: (http://\S+)")
# For what never comes, not for what a busy machine does late: a wait ends with what it waits for.
PATIENCE_SECONDS = 180.0
LONGEST_PAUSE_SECONDS = 0.25
# What a developer's shell may hold and an instance under test must not see.
OUTSIDE_VARIABLES = (
    *("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "PORT"),
    *("SCRIPT_NAME", "LEARNML_SCRIPT_NAME"),
    *("LEARNML_QUEUE_SOCKET", "LEARNML_STATIC_ROOT", "LEARNML_SECRET_KEY", "LEARNML_HOST"),
)


def runtime_python() -> Path:
    """Return the interpreter that `./run` uses, or this one where it made none yet."""
    made_by_run = PROJECT / ".venv"
    if (made_by_run / "lock.txt").exists():
        return made_by_run / "bin" / "python"
    return Path(sys.executable)


_held: list[socket.socket] = []


def free_port() -> int:
    """Return a port that nobody else is given while this process lives.

    The socket that found it stays bound without listening: who says SO_REUSEADDR, as servers do,
    may listen there; the system gives it to no other that asks for any port, nor to a client.
    """
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    _held.append(holder)
    return int(holder.getsockname()[1])


def with_this_process() -> list[str]:
    """Return what to put before a command for it to be asked to stop when this process dies.

    Fixtures end what they started; this is for a test run that is killed.
    """
    program = shutil.which("setpriv")
    return [program, "--pdeathsig", "TERM", "--"] if program else []


def pause(since: float, least_seconds: float = 0.05) -> None:
    """Sleep before asking again for what is waited for since then, a monotonic time.

    The longer that is, the less often: asking takes time from what answers.
    """
    waited = time.monotonic() - since
    time.sleep(min(max(least_seconds, waited / 20), LONGEST_PAUSE_SECONDS))


def wait_for(what: Callable[[], T | None], seconds: float, text: str) -> T:
    """Return the first true answer of `what`; fail with `text` if there is none in time."""
    begun = time.monotonic()
    while time.monotonic() < begun + seconds:
        if answer := what():
            return answer
        pause(begun)
    raise AssertionError(f"waited {seconds:g} s in vain: {text}")


class Instance:
    """`manage.py up` in a process of its own, its output in a file."""

    def __init__(self, data_dir: Path, **environment: str) -> None:
        self.data_dir = data_dir
        self.log = data_dir.with_name(f"{data_dir.name}.log")
        self.environment = {
            **{k: v for k, v in os.environ.items() if k not in OUTSIDE_VARIABLES},
            "LEARNML_DATA": str(data_dir),
            "LEARNML_DEMO_PASSWORD": DEMO_PASSWORD,
            # Tests ask more often than people do.
            "LEARNML_API_RATE_USER": "100000/min",
            "PORT": str(free_port()),
            **environment,
        }
        self.base_url = f"http://127.0.0.1:{self.environment['PORT']}"
        self.process: subprocess.Popen[bytes] | None = None

    def command(self) -> list[str]:
        return [*with_this_process(), str(runtime_python()), "manage.py", "up"]

    def start(self) -> Instance:
        """Start without waiting."""
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                self.command(),
                cwd=PROJECT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return self

    def wait_until_ready(self) -> float:
        """Wait until the address has been printed. Return the seconds it says."""
        assert self.process is not None

        def ready() -> re.Match[str] | None:
            match = READY.search(self.output())
            if match is None and self.process is not None and self.process.poll() is not None:
                raise AssertionError(f"LearnML ended instead of starting:\n{self.output()}")
            return match

        try:
            return float(wait_for(ready, PATIENCE_SECONDS, "LearnML to be ready").group(1))
        except AssertionError:
            sys.stderr.write(self.output())
            raise

    def wait_until_graders_work(self) -> None:
        """Wait until a CPU worker has reported to the site."""

        def has_worker() -> bool:
            workers = self.ready_report().get("workers")
            return isinstance(workers, dict) and workers.get("cpu", 0) > 0

        wait_for(has_worker, PATIENCE_SECONDS, f"a worker to report:\n{self.output()}")

    def ready_report(self) -> dict[str, object]:
        status, body = self.get("/readyz")
        return json.loads(body) if status in (200, 503) else {}

    def get(self, path: str, seconds: float = 10.0) -> tuple[int, str]:
        """Return status and text of one page; status 0 if nothing answers."""
        try:
            with urllib.request.urlopen(self.base_url + path, timeout=seconds) as answer:  # noqa: S310
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def output(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Ask the supervisor to stop and return its exit code."""
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_SECONDS)

    def ask_to_stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()

    def end(self) -> None:
        """Stop whatever is left, for the end of a test."""
        if self.process is not None and self.process.poll() is None:
            try:
                self.ask_to_stop()
                self.process.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    # --- looking at processes -------------------------------------------------------------------
    def processes(self) -> dict[int, str]:
        """Return pid and command line of every process that has to do with the data folder."""
        mark = os.fsencode(self.data_dir)
        return {
            pid: command.replace(b"\0", b" ").decode(errors="replace")
            for pid, command, environment in _all_processes()
            if mark in command or mark in environment
        }

    def part_pid(self, name: str) -> int | None:
        """Return the pid of a part's first process, a child of the supervisor."""
        assert self.process is not None
        words = {
            "queue": "/valkey.sock",
            "cache": "/cache.sock",
            "web": "gunicorn",
            "worker": "gpu_worker.celery_app",
            "control": "results,control",
            "scheduler": " beat ",
        }[name]
        for pid, command in self.processes().items():
            if words in command and _parent(pid) == self.process.pid:
                return pid
        return None


def _all_processes() -> Iterator[tuple[int, bytes, bytes]]:
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            if _state(folder) == "Z":
                continue
            yield (
                int(folder.name),
                (folder / "cmdline").read_bytes(),
                (folder / "environ").read_bytes(),
            )
        except OSError:
            continue  # ended meanwhile, or another user's


def _stat_fields(folder: Path) -> list[str]:
    # The name in parentheses may hold blanks: what follows it is regular.
    return (folder / "stat").read_text().rpartition(")")[2].split()


def _state(folder: Path) -> str:
    return _stat_fields(folder)[0]


def _parent(pid: int) -> int:
    try:
        return int(_stat_fields(Path(f"/proc/{pid}"))[1])
    except OSError:
        return 0


def environment_of(pid: int) -> dict[str, str]:
    """Return the environment a process was started with."""
    pairs = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return dict(pair.decode().split("=", 1) for pair in pairs if b"=" in pair)
