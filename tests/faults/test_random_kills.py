"""Random deaths while many submissions are graded: each ends once, with its own outcome."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable

import pytest

from tests.faults.platform import QUICK, SLOWNESS
from tests.platform.client import Client, chapter_listing
from tests.platform.instance import Instance, wait_for

pytestmark = [
    pytest.mark.services,
    pytest.mark.long("test_steps.py kills a part at each step of a grading in every run."),
]

MakeInstance = Callable[..., Instance]
# The long form, 200 submissions: LEARNML_FAULT_SUBMISSIONS=200 ./run test tests/faults
SUBMISSIONS = int(os.environ.get("LEARNML_FAULT_SUBMISSIONS", "24"))
KILLS = SUBMISSIONS // 8
PARTS = ("worker", "worker", "control", "queue", "web", "scheduler")
SECONDS = (180 + 2 * SUBMISSIONS) * SLOWNESS
WRONG = "class Another:\n    pass\n"


def submit_persistently(client: Client, source: str, number: int) -> str:
    """Send a submission until it is taken; its key makes a repetition harmless."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            return client.submit(source, key=f"kill-{number}")
        except (OSError, AssertionError):
            # The web server died under the request: ask again.
            if time.monotonic() > deadline:
                raise
            time.sleep(0.3)


def kill_at_random(instance: Instance, stop: threading.Event, killed: Counter[str]) -> None:
    chance = random.Random(20261129)
    while not stop.wait(chance.uniform(0.5, 2.5)) and killed.total() < KILLS:
        part = chance.choice(PARTS)
        pid = instance.part_pid(part)
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            killed[part] += 1


def test_no_submission_is_lost_or_graded_twice_whatever_dies(make_instance: MakeInstance) -> None:
    instance = make_instance(**QUICK)
    instance.wait_until_graders_work()
    client = Client(instance.base_url, "learner")
    stop, killed = threading.Event(), Counter[str]()
    killer = threading.Thread(target=kill_at_random, args=(instance, stop, killed))
    killer.start()
    expected: dict[str, str] = {}

    def submit_next() -> None:
        number = len(expected)
        good = number % 3 != 0
        source = (chapter_listing() if good else WRONG) + f"\n# {number}\n"
        identity = submit_persistently(client, source, number)
        expected[identity] = "accepted" if good else "contract_error"

    def rows() -> dict[str, tuple[str, str | None]]:
        with sqlite3.connect(instance.data_dir / "db.sqlite3", timeout=20) as database:
            return {
                identity: (state, outcome)
                for identity, state, outcome in database.execute(
                    "select public_id, state, outcome from grader_submission"
                )
            }

    def have_ended() -> bool:
        if not all(state == "finished" for state, _ in rows().values()):
            return False
        if killed.total() < KILLS:
            # The machine is faster than the killer: there is to be something to kill.
            submit_next()
            return False
        return True

    try:
        while len(expected) < SUBMISSIONS:
            submit_next()
        wait_for(have_ended, SECONDS, f"all submissions to end; killed {dict(killed)}")
    finally:
        stop.set()
        killer.join()

    assert killed.total() == KILLS, "the submissions ended before all the kills: nothing was tested"
    ended = {identity: outcome for identity, (_, outcome) in rows().items()}
    assert ended.keys() == expected.keys(), "none is lost, none is there twice"
    # Three deaths under one submission end it as not gradable: rare, and said so.
    given_up = {identity for identity, outcome in ended.items() if outcome == "not_gradable"}
    assert len(given_up) <= KILLS // 3
    assert {i: o for i, o in ended.items() if i not in given_up} == {
        i: o for i, o in expected.items() if i not in given_up
    }
    with sqlite3.connect(instance.data_dir / "db.sqlite3", timeout=20) as database:
        verdicts = database.execute(
            "select submission_id, count(*) from grader_gradingattempt"
            " where state = 'finished' group by submission_id having count(*) > 1"
        ).fetchall()
    assert verdicts == [], "a submission has two verdicts"
