"""The queue server and the database fail: what was handed in is graded once, later."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.faults.platform import PATIENCE_SECONDS, Platform
from tests.faults.test_steps import WRONG, good, has_one_outcome
from tests.platform.instance import wait_for

pytestmark = pytest.mark.services
LOCK_SECONDS = 10.0


@contextlib.contextmanager
def locked_database(platform: Platform) -> Iterator[None]:
    """Hold the database's write lock for the time of the block."""
    with contextlib.closing(platform.database()) as database:
        database.execute("begin immediate")
        yield
        database.execute("rollback")


def test_the_database_is_locked_at_submitting_and_at_recording(platform: Platform) -> None:
    # Signed in before: the lock has to be there well before the verdict is.
    author = platform.client("author")
    graded = platform.submit(f"import time\ntime.sleep(1)\n{good()}")
    wait_for(lambda: platform.row(graded).state == "running", PATIENCE_SECONDS, "the job to run")
    # The lock is let go before the pool waits for its thread.
    with ThreadPoolExecutor() as pool, locked_database(platform):
        submitted = pool.submit(author.submit, good())
        time.sleep(LOCK_SECONDS)
        assert platform.row(graded).state == "running"
        assert not submitted.done()
    for row in platform.wait_until_ended(graded, submitted.result()).values():
        has_one_outcome(row, "accepted")


def test_the_queue_server_is_killed_in_the_middle(platform: Platform) -> None:
    names = ("learner", "author", "grader")
    sent = [platform.submit(good(number), names[number % 3]) for number in range(4)]
    wait_for(
        lambda: any(row.state == "running" for row in platform.rows().values()),
        PATIENCE_SECONDS,
        "a submission to run",
    )
    platform.queue.kill()
    platform.start_queue()
    for row in platform.wait_until_ended(*sent).values():
        has_one_outcome(row, "accepted")


def test_the_queue_server_loses_all_it_had(platform: Platform) -> None:
    platform.worker.kill()
    sent = [platform.submit(good()), platform.submit(WRONG, "author")]
    wait_for(lambda: platform.broker().llen("cpu") == 2, PATIENCE_SECONDS, "both to be queued")
    platform.queue.kill()
    shutil.rmtree(platform.config.data_dir / "queue")
    platform.make_queue_folders()
    platform.start_queue()
    platform.worker.start()
    rows = platform.wait_until_ended(*sent)
    for identity, outcome in zip(sent, ("accepted", "contract_error"), strict=True):
        has_one_outcome(rows[identity], outcome)
        # Nobody was lost, so it costs no try.
        assert len(rows[identity].attempts) == 1


def test_without_a_queue_server_submissions_are_kept_and_sent_later(platform: Platform) -> None:
    platform.queue.kill()
    sent = [platform.submit(good()), platform.submit(WRONG)]
    shown = platform.client("learner").call("GET", f"submissions/{sent[0]}/")
    assert shown["state"] == "queued"
    assert "not reachable" in shown["message"]
    platform.start_queue()
    rows = platform.wait_until_ended(*sent)
    for identity, outcome in zip(sent, ("accepted", "contract_error"), strict=True):
        has_one_outcome(rows[identity], outcome)


def test_what_comes_twice_counts_once(platform: Platform) -> None:
    platform.worker.kill()
    platform.control.kill()
    identity = platform.submit(good())
    broker = platform.broker()
    wait_for(lambda: broker.llen("cpu") == 1, PATIENCE_SECONDS, "the job to be queued")
    broker.rpush("cpu", *broker.lrange("cpu", 0, -1) * 2)
    platform.worker.start()
    wait_for(lambda: platform.verdicts(identity) == 3, PATIENCE_SECONDS, "three verdicts")
    # Each verdict twice as well, the copies first.
    broker.rpush("results", *broker.lrange("results", 0, -1))
    platform.control.start()
    row = platform.wait_until_ended(identity)[identity]
    wait_for(lambda: not broker.llen("results"), PATIENCE_SECONDS, "all messages to be read")
    has_one_outcome(row, "accepted")
    assert len(row.attempts) == 1
    assert platform.row(identity) == row
