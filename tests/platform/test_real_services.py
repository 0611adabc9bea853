"""From submission to verdict: embedded services, real Redis, real PostgreSQL; and when they die."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.platform.client import Client, chapter_listing
from tests.platform.instance import PATIENCE_SECONDS, Instance, environment_of, free_port, wait_for
from tests.platform.redis_server import redis_server as run_redis

pytestmark = pytest.mark.services

MakeInstance = Callable[..., Instance]


def assert_grades(instance: Instance) -> None:
    client = Client(instance.base_url, "learner")
    accepted = client.verdict(client.submit(chapter_listing()))
    assert (accepted["outcome"], accepted["score"]) == ("accepted", 1.0)
    broken = client.verdict(client.submit("class Another:\n    pass\n"))
    assert broken["outcome"] == "contract_error"


def test_real_postgres_is_used_instead_of_the_file(
    make_instance: MakeInstance, postgres_server: str
) -> None:
    instance = make_instance(start=False, DATABASE_URL=postgres_server)
    for path in instance.data_dir.glob("db.sqlite3*"):
        path.unlink()
    instance.start().wait_until_ready()
    assert_grades(instance)
    assert not (instance.data_dir / "db.sqlite3").exists()
    worker = instance.part_pid("worker")
    assert worker is not None
    assert "DATABASE_URL" not in environment_of(worker)


def test_real_redis_is_used_and_what_comes_while_it_is_away_is_graded_later(
    make_instance: MakeInstance, tmp_path: Path
) -> None:
    port = free_port()
    with run_redis(tmp_path, port) as url:
        instance = make_instance(REDIS_URL=url)
        instance.wait_until_graders_work()
        assert instance.part_pid("queue") is None
        assert not (instance.data_dir / "queue").exists()
        assert_grades(instance)
        client = Client(instance.base_url, "learner")
    assert instance.get("/")[0] == 200, "pages need no queue"
    assert instance.ready_report()["queue"] == "unreachable"
    submission = client.submit(chapter_listing())
    assert client.call("GET", f"submissions/{submission}/")["state"] == "queued"
    with run_redis(tmp_path, port):
        assert client.verdict(submission)["outcome"] == "accepted"


@pytest.fixture(scope="module")
def instance(make_module_instance: MakeInstance) -> Instance:
    """One whose parts are killed; it soon misses a worker that says nothing any more."""
    return make_module_instance(
        LEARNML_HEARTBEAT_SECONDS="0.5",
        LEARNML_HEARTBEAT_TIMEOUT_SECONDS="6",
        LEARNML_SWEEP_INTERVAL_SECONDS="1",
        LEARNML_LOG_FORMAT="json",
        LEARNML_ACCESS_LOG="1",
        LEARNML_PROXIES="1",
    )


def test_embedded_services_grade(instance: Instance) -> None:
    assert_grades(instance)


def test_one_request_is_found_in_the_lines_of_all_parts(instance: Instance) -> None:
    """As JSON: from the web by the queue to the worker, and back with its verdict."""
    client = Client(instance.base_url, "learner")
    body = {"track": "numpy", "source": chapter_listing()}
    headers = {"X-Request-ID": "from-the-proxy-4711"}
    sent = client.call("POST", "exercises/rmsnorm/submissions/", body, **headers)
    assert client.verdict(sent["id"])["outcome"] == "accepted"

    def lines() -> list[dict[str, object]]:
        whole, _, _ = instance.output().rpartition("\n")
        return [json.loads(line) for line in whole.split("\n")]

    def found() -> dict[str, list[str]]:
        mine = [each for each in lines() if each.get("request_id") == headers["X-Request-ID"]]
        return {
            str(part): [str(each["message"]) for each in mine if each["part"] == part]
            for part in {each["part"] for each in mine if each.get("submission") == sent["id"]}
        }

    wait_for(lambda: set(found()) >= {"web", "worker", "control"}, PATIENCE_SECONDS, "all lines")
    told = found()
    about = f"Submission {sent['id']}:"
    assert f"{about} taken for rmsnorm on numpy" in told["web"]
    assert f"{about} on the queue cpu" in told["web"] + told["control"]
    assert f"{about} accepted, 1.000" in told["worker"]
    assert any(line.startswith(f"{about} accepted by ") for line in told["control"])
    wait_for(
        lambda: any("POST /api/v1/exercises/rmsnorm/" in line for line in found()["web"]),
        PATIENCE_SECONDS,
        "the line of the access log",
    )
    assert all({"time", "level", "message", "part"} <= set(each) for each in lines())


def test_submission_survives_the_death_of_its_worker(instance: Instance) -> None:
    instance.wait_until_graders_work()
    client = Client(instance.base_url, "learner")
    slow = "import time\ntime.sleep(3)\n" + chapter_listing()
    submission = client.submit(slow)

    def claimed() -> bool:
        return client.call("GET", f"submissions/{submission}/")["state"] in ("claimed", "running")

    wait_for(claimed, PATIENCE_SECONDS, "the worker to claim the submission")
    worker = instance.part_pid("worker")
    assert worker is not None
    os.kill(worker, signal.SIGKILL)
    assert client.verdict(submission)["outcome"] == "accepted"


def test_submissions_survive_the_death_of_the_embedded_queue(instance: Instance) -> None:
    instance.wait_until_graders_work()
    client = Client(instance.base_url, "learner")
    submissions = [client.submit(chapter_listing()) for _ in range(3)]
    queue = instance.part_pid("queue")
    assert queue is not None
    os.kill(queue, signal.SIGKILL)
    assert [client.verdict(s)["outcome"] for s in submissions] == ["accepted"] * 3
