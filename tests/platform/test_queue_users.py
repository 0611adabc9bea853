"""The queue's users on Debian's redis-server: over TLS as in the how-to, and as in containers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import redis
import yaml
from celery import Celery
from kombu.exceptions import OperationalError
from pytest_django.fixtures import Settings

from gpu_worker.messages import queues
from gpu_worker.messages.protocol import GradeJob, Track, Verdict
from gpu_worker.messages.signing import SignedMessage, WorkerKey
from learnml.health import queue_state
from tests.platform.instance import PATIENCE_SECONDS, PROJECT, free_port, wait_for
from tests.platform.redis_server import running

pytestmark = pytest.mark.services

KEY = WorkerKey("cpu-2", bytes(range(32)))
JOB = GradeJob(
    submission="s" * 16,
    lease="a" * 32,
    attempt=1,
    exercise="rmsnorm",
    track=Track.NUMPY,
    source="class Another:\n    pass\n",
)


@dataclass(frozen=True)
class Queue:
    """Addresses of one server for its users."""

    site: str
    worker: str
    cache: str = ""

    def as_user(self, url: str) -> redis.Redis:
        return redis.Redis.from_url(url, decode_responses=True)


def answers(url: str) -> bool:
    try:
        return bool(redis.Redis.from_url(url).ping())
    except redis.RedisError:
        return False


@contextmanager
def over_tls(folder: Path) -> Iterator[Queue]:
    """The files of `deploy/queue/`, with the certificate that the how-to makes."""
    how_to = (PROJECT / "docs/how-to/add-a-worker.md").read_text()
    commands = re.search(r"```sh\n   cd /etc/redis\n(.*?)   chown", how_to, re.DOTALL)
    assert commands
    script = commands[1].replace("DNS:queue.example.org", "DNS:localhost")
    subprocess.run(["sh", "-eu", "-c", script], cwd=folder, check=True, capture_output=True)
    shipped = PROJECT / "deploy/queue"
    users = (shipped / "users.acl").read_text()
    (folder / "users.acl").write_text(users)
    port = free_port()
    text = (shipped / "redis.conf").read_text().replace("/etc/redis", str(folder))
    text = text.replace("tls-port 6379", f"tls-port {port}").replace("/var/lib/redis", str(folder))
    (folder / "redis.conf").write_text(text)
    tls = f"ssl_cert_reqs=required&ssl_ca_certs={folder}/ca.pem"
    site, worker, cache = (
        f"rediss://{user}:{user.upper()}-PASSWORD@localhost:{port}/0?{tls}"
        for user in ("site", "worker", "cache")
    )
    with running([str(folder / "redis.conf")]):
        wait_for(lambda: answers(site), PATIENCE_SECONDS, "redis-server to answer over TLS")
        yield Queue(site, worker, cache)


@contextmanager
def in_containers(folder: Path) -> Iterator[Queue]:
    """The command of the service `redis` in docker-compose.yml."""
    compose = yaml.safe_load((PROJECT / "docker-compose.yml").read_text())
    _, *options = (
        re.sub(r"\$\{LEARNML_(\w+):[^}]*\}", r"\1", word)
        for word in compose["services"]["redis"]["command"]
    )
    port = free_port()
    site = f"redis://:QUEUE_PASSWORD@127.0.0.1:{port}/0"
    worker = f"redis://worker:WORKER_QUEUE_PASSWORD@127.0.0.1:{port}/0"
    # First: a user's rules go on to the end of the line.
    place = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    with running([*place, *options]):
        wait_for(lambda: answers(site), PATIENCE_SECONDS, "redis-server to answer")
        yield Queue(site, worker)


@pytest.fixture(params=[over_tls, in_containers], ids=["tls", "containers"], scope="module")
def queue(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Queue]:
    with request.param(tmp_path_factory.mktemp("redis")) as queue:
        yield queue


@pytest.fixture
def app(queue: Queue) -> Celery:
    app = Celery("site")
    app.config_from_object(queues.celery_settings(queue.site))
    return app


def test_a_worker_with_the_workers_rights_grades(queue: Queue, app: Celery, tmp_path: Path) -> None:
    app.send_task(queues.TASK_GRADE, args=[JOB.to_message()], queue=queues.QUEUE_CPU)
    log = tmp_path / "worker.log"
    worker = subprocess.Popen(
        [sys.executable, "-m", "celery", "--quiet", "-A", "gpu_worker.celery_app", "worker"]
        + ["-Q", "cpu", "-c", "1", "--without-gossip", "--without-mingle"],
        env={**os.environ, "REDIS_URL": queue.worker, "LEARNML_WORKER_KEY": str(KEY)},
        stdout=log.open("wb"),
        stderr=subprocess.STDOUT,
    )
    try:
        verdict = wait_for(
            lambda: next(said(app, queues.TASK_RECORD_VERDICT), None),
            PATIENCE_SECONDS,
            f"a verdict:\n{log.read_text()}",
        )
        assert Verdict.from_message(verdict.message()).outcome == "contract_error"
        assert verdict.is_signed_with(KEY, queues.TASK_RECORD_VERDICT)
        pong = wait_for(lambda: app.control.inspect(timeout=5).ping(), PATIENCE_SECONDS, "a pong")
        assert [answer["ok"] for answer in pong.values()] == ["pong"]
    finally:
        worker.terminate()
        worker.wait(PATIENCE_SECONDS)
    assert "NoPermission" not in log.read_text()


def said(app: Celery, task: str) -> Iterator[SignedMessage]:
    """Take messages from `results`; yield those for a task."""
    with (
        app.connection() as connection,
        connection.SimpleQueue(queues.QUEUE_RESULTS) as results,
        suppress(results.Empty),
    ):
        while message := results.get_nowait():
            message.ack()
            if message.headers["task"] == task:
                yield SignedMessage.from_message(message.payload[0][0])


FORBIDDEN: dict[str, Callable[[redis.Redis], object]] = {
    "empty the queue": lambda worker: worker.flushall(),
    "list what there is": lambda worker: worker.keys("*"),
    "change the server": lambda worker: worker.config_set("appendonly", "no"),
    "make itself another user": lambda worker: worker.execute_command("ACL", "LIST"),
    "read reports": lambda worker: worker.lrange("results", 0, -1),
    "take reports away": lambda worker: worker.rpop("results"),
    "put tasks on the site's queue": lambda worker: worker.lpush("control", "task"),
    "take what the site has not acknowledged": lambda worker: worker.hgetall("site_unacked"),
    "order workers about": lambda worker: worker.publish("/0.celery.pidbox", "shutdown"),
    "read the cache": lambda worker: worker.get("learnml:2:throttle"),
    "lift a limit": lambda worker: worker.delete("learnml:2:throttle"),
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_a_worker_cannot(queue: Queue, what: str) -> None:
    with pytest.raises(redis.exceptions.NoPermissionError):
        FORBIDDEN[what](queue.as_user(queue.worker))


def test_nobody_gets_in_without_a_password(queue: Queue) -> None:
    url = re.sub(r"//[^@]*@", "//", queue.site)
    with pytest.raises(redis.AuthenticationError):
        redis.Redis.from_url(url).ping()


@pytest.fixture
def tls_queue(tmp_path: Path) -> Iterator[Queue]:
    with over_tls(tmp_path) as queue:
        yield queue


def test_over_tls_a_strange_certificate_is_refused_and_the_cache_is_apart(
    tls_queue: Queue, settings: Settings
) -> None:
    settings.REDIS_URL = tls_queue.site
    queue_state.forget()
    assert queue_state() == "ok"
    cache = tls_queue.as_user(tls_queue.cache)
    assert cache.set("learnml:2:throttle", 1)
    for forbidden in (lambda: cache.get("unacked"), lambda: cache.lpush("cpu", "job")):
        with pytest.raises(redis.exceptions.NoPermissionError):
            forbidden()
    # The system's authorities have not signed it: an address without one does not get in.
    strange = replace(tls_queue, site=tls_queue.site.partition("?")[0])
    settings.REDIS_URL = strange.site
    queue_state.forget()
    assert queue_state() == "unreachable"
    app = Celery("site")
    app.config_from_object(queues.celery_settings(strange.site))
    with app.connection() as connection, pytest.raises(OperationalError, match="certificate"):
        connection.ensure_connection(max_retries=1)
