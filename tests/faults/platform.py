"""A LearnML without its supervisor: every part is a process that a test freezes, kills, starts."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis

from gpu_worker.messages.queues import TASK_RECORD_VERDICT
from learnml.supervisor import embedded_servers
from learnml.supervisor.config import read_config
from learnml.supervisor.processes import ProcessSpec, python_processes
from tests.platform.client import Client
from tests.platform.instance import (
    DEMO_PASSWORD,
    OUTSIDE_VARIABLES,
    PROJECT,
    free_port,
    wait_for,
    with_this_process,
)

DEADLY = "# deadly"
"""A source with this kills the process of `stopping_worker` that grades it."""
# A machine that has other work, or will have once all test processes are at it, is given more time,
# so that only what is dead is taken for dead.
BUSY = max(os.getloadavg()[0], float(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))
SLOWNESS = min(5.0, max(1.0, BUSY / (os.cpu_count() or 1)))
# Generous: a wait ends as soon as there is what it waits for.
PATIENCE_SECONDS = 180.0 * SLOWNESS
QUICK = {
    "LEARNML_HEARTBEAT_SECONDS": "0.5",
    "LEARNML_HEARTBEAT_TIMEOUT_SECONDS": f"{3 * SLOWNESS:g}",
    "LEARNML_SWEEP_INTERVAL_SECONDS": "1",
    "LEARNML_OUTBOX_INTERVAL_SECONDS": "1",
    "LEARNML_TASK_TIME_LIMIT_SECONDS": f"{6 * SLOWNESS:g}",
    "LEARNML_VISIBILITY_TIMEOUT_SECONDS": f"{7 * SLOWNESS:g}",
    "LEARNML_RESEND_MARGIN_SECONDS": "1",
    "LEARNML_SUBMISSIONS_PER_MINUTE": "10000",
    "LEARNML_MAX_OPEN_SUBMISSIONS": "10000",
    "LEARNML_API_RATE_USER": "100000/min",
    "LEARNML_WEB_WORKERS": "1",
    "LEARNML_LOG_LEVEL": "WARNING",
}
"""Settings under which a loss is found within seconds, and no limit is in the way."""


class Part:
    """One process with its descendants, its output in a file."""

    def __init__(self, spec: ProcessSpec, log: Path) -> None:
        self.spec = spec
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, **environment: str) -> Part:
        assert not self.is_running()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*with_this_process(), *self.spec.command],
                cwd=PROJECT,
                env={**self.spec.environment, **environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return self

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """End the process and its descendants as a power cut would."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def resume(self) -> None:
        """Let go on what stopped itself."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGCONT)

    def is_stopped(self) -> bool:
        """Return whether a process of the part has stopped itself."""
        return self._process is not None and "T" in _states_of_group(self._process.pid)

    def output(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""


@dataclass(frozen=True)
class Attempt:
    number: int
    state: str
    outcome: str
    end_reason: str
    node: str


@dataclass(frozen=True)
class Row:
    """A submission as the database has it, with its attempts."""

    state: str
    outcome: str | None
    version: int
    attempts: list[Attempt]

    @property
    def states(self) -> list[str]:
        return [attempt.state for attempt in self.attempts]


class Platform:
    """The parts by name, the queue from outside, and the rows in the database."""

    def __init__(self, folder: Path, prepared: Path) -> None:
        self.folder = folder
        data = folder / "data"
        shutil.copytree(prepared, data, ignore=shutil.ignore_patterns("static"))
        self.environment = {
            **{k: v for k, v in os.environ.items() if k not in OUTSIDE_VARIABLES},
            "LEARNML_DATA": str(data),
            "LEARNML_STATIC_ROOT": str(prepared / "static"),
            "LEARNML_DEMO_PASSWORD": DEMO_PASSWORD,
            "PORT": str(free_port()),
            **QUICK,
        }
        self.config = read_config(self.environment)
        program = embedded_servers.find_server()
        self._servers = (
            embedded_servers.queue_server(self.config, program),
            embedded_servers.cache_server(self.config, program),
        )
        self.parts = {spec.name: self._part(spec) for spec in self._specs()}
        self.web, self.worker = self.parts["web"], self.parts["worker"]
        self.control, self.scheduler = self.parts["control"], self.parts["scheduler"]
        self.queue, self.cache = self.parts["queue"], self.parts["cache"]
        self._clients: dict[str, Client] = {}

    def _specs(self) -> list[ProcessSpec]:
        self.make_queue_folders()
        with _environment(self.environment):
            servers = (ProcessSpec(server.name, server.command(), {}) for server in self._servers)
            return [*servers, *python_processes(self.config)]

    def _part(self, spec: ProcessSpec) -> Part:
        return Part(spec, self.folder / f"{spec.name}.log")

    def stopping(self, name: str, step: str, submission: str) -> Part:
        """Return a part like `name` that stops itself at a step; see `stopping_*.py`."""
        spec = self.parts[name].spec
        app = {"worker": "gpu_worker.celery_app", "control": "learnml"}[name]
        command = tuple(
            f"tests.faults.stopping_{name}" if word == app else word for word in spec.command
        )
        label = f"{name} that stops {step} of {submission}"
        environment = {
            **spec.environment,
            "STOP": step,
            "STOP_FOR": submission,
            "LEARNML_NODE": label,
            # A process that stands still would be ended by its own worker.
            "LEARNML_TASK_TIME_LIMIT_SECONDS": "600",
        }
        part = self._part(ProcessSpec(label, command, environment))
        self.parts[f"{label} {len(self.parts)}"] = part
        return part

    # --- all of it ----------------------------------------------------------------------------
    def start(self) -> None:
        """Start what does not run, and wait until the site answers."""
        if not self.queue.is_running():
            self.start_queue()
        if not self.cache.is_running():
            self.cache.start()
        for part in (self.web, self.control, self.scheduler, self.worker):
            if not part.is_running():
                part.start()
        wait_for(self._site_answers, PATIENCE_SECONDS, f"the site\n{self.web.output()}")

    def make_queue_folders(self) -> None:
        for server in self._servers:
            server.make_folders()

    def start_queue(self) -> None:
        self.queue.start()
        assert embedded_servers.wait_until_it_answers(self.config.queue_socket, PATIENCE_SECONDS)

    def end(self) -> None:
        for part in self.parts.values():
            part.kill()

    def _site_answers(self) -> bool:
        try:
            return bool(self.client("learner"))
        except (OSError, AssertionError):
            return False

    # --- what people do -------------------------------------------------------------------------
    def client(self, name: str, scopes: tuple[str, ...] = ("submit", "read")) -> Client:
        key = " ".join((name, *scopes))
        if key not in self._clients:
            self._clients[key] = Client(self.config.url.rstrip("/"), name, scopes=scopes)
        return self._clients[key]

    def submit(self, source: str, name: str = "learner") -> str:
        return self.client(name).submit(source)

    # --- what can be seen from outside ----------------------------------------------------------
    def rows(self) -> dict[str, Row]:
        with contextlib.closing(self.database()) as database:
            # Of one moment: a verdict may be recorded between the two readings.
            database.execute("begin")
            attempts: dict[int, list[Attempt]] = {}
            for pk, *fields in database.execute(
                "select submission_id, number, state, outcome, end_reason, node"
                " from grader_gradingattempt where regrade_item_id is null order by number"
            ):
                attempts.setdefault(pk, []).append(Attempt(*fields))
            return {
                identity: Row(state, outcome, version, attempts.get(pk, []))
                for pk, identity, state, outcome, version in database.execute(
                    "select id, public_id, state, outcome, version from grader_submission"
                )
            }

    def row(self, identity: str) -> Row:
        return self.rows()[identity]

    def database(self) -> sqlite3.Connection:
        path = self.config.data_dir / "db.sqlite3"
        return sqlite3.connect(path, timeout=20, isolation_level=None)

    def broker(self) -> redis.Redis:
        return redis.Redis(unix_socket_path=str(self.config.queue_socket))

    def waiting_at_low_priority(self) -> int:
        """Return how many jobs wait behind those of learners."""
        broker = self.broker()
        return sum(broker.llen(key) for key in broker.keys("cpu\x06\x16*"))

    def results(self) -> list[dict[str, Any]]:
        """Return the messages of workers that nobody took yet, or took and did not acknowledge."""
        waiting = [json.loads(value) for value in self.broker().lrange("results", 0, -1)]
        return [*waiting, *self.unacknowledged()]

    def verdicts(self, identity: str) -> int:
        """Return how many verdicts on a submission nobody has recorded yet."""
        return sum(
            message["headers"]["task"] == TASK_RECORD_VERDICT
            and identity in message["headers"]["argsrepr"]
            for message in self.results()
        )

    def unacknowledged(self) -> list[dict[str, Any]]:
        """Return the messages that somebody took and has not acknowledged."""
        broker = self.broker()
        # Workers and the site keep what they took apart.
        taken = [*broker.hvals("unacked"), *broker.hvals("site_unacked")]
        return [json.loads(value)[0] for value in taken]

    def wait_until_ended(self, *identities: str) -> dict[str, Row]:
        def ended() -> dict[str, Row] | None:
            rows = {i: row for i, row in self.rows().items() if i in identities}
            return rows if all(row.state == "finished" for row in rows.values()) else None

        try:
            return wait_for(ended, PATIENCE_SECONDS, "the submissions to end")
        except AssertionError:
            sys.stderr.write("".join(part.output()[-4000:] for part in self.parts.values()))
            raise


def _states_of_group(group: int) -> set[str]:
    states = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[2]) == group:
                states.add(fields[0])
    return states


@contextlib.contextmanager
def _environment(environment: dict[str, str]) -> Iterator[None]:
    former = dict(os.environ)
    os.environ.clear()
    os.environ.update(environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(former)
