"""Whose turn it is, on a real queue with a real worker."""

from __future__ import annotations

import contextlib

import pytest

from tests.faults.platform import PATIENCE_SECONDS, Platform
from tests.faults.test_steps import WRONG
from tests.platform.client import Client
from tests.platform.instance import wait_for

pytestmark = pytest.mark.services


def in_order_of_ending(platform: Platform) -> list[tuple[str, bool]]:
    """Return all gradings as they ended: the submission, and whether it was a regrade."""
    with contextlib.closing(platform.database()) as database:
        return [
            (identity, bool(is_regrade))
            for identity, is_regrade in database.execute(
                "select s.public_id, a.regrade_item_id is not null from grader_gradingattempt a"
                " join grader_submission s on s.id = a.submission_id"
                " where a.state = 'finished' order by a.finished_at, a.id"
            )
        ]


def since(platform: Platform, twenty: list[str]) -> str:
    """Return when the first of them was made."""
    return str(platform.client("learner").call("GET", f"submissions/{twenty[0]}/")["created_at"])


def position(client: Client, identity: str) -> int:
    return int(client.call("GET", f"submissions/{identity}/")["queue_position"])


@pytest.fixture(scope="module")
def twenty(shared_platform: Platform) -> list[str]:
    """Submissions of one learner, sent at once while no worker runs."""
    shared_platform.start()
    shared_platform.worker.kill()
    return [shared_platform.submit(f"{WRONG}\n# {number}") for number in range(20)]


def test_one_submission_is_not_kept_waiting_by_twenty_of_another(
    twenty: list[str], shared_platform: Platform
) -> None:
    one = shared_platform.submit(WRONG, "author")
    learner, author = shared_platform.client("learner"), shared_platform.client("author")
    said = {twenty[number]: position(learner, twenty[number]) for number in (0, 1, 9)}
    said[one] = position(author, one)
    assert said == {twenty[0]: 1, twenty[1]: 2, one: 3, twenty[9]: 11}
    shared_platform.start()
    shared_platform.wait_until_ended(one, *twenty)
    mine = {one, *twenty}
    ended = [identity for identity, _ in in_order_of_ending(shared_platform) if identity in mine]
    assert {identity: ended.index(identity) + 1 for identity in said} == said


def test_regrades_run_behind_what_learners_submit_after_them(
    twenty: list[str], platform: Platform
) -> None:
    before = platform.wait_until_ended(*twenty)
    platform.worker.kill()
    grader = platform.client("grader", scopes=("grade", "read"))
    chosen = {
        "outcome": "contract_error",
        "learner": "learner",
        "created_after": since(platform, twenty),
    }
    run = grader.call("POST", "regrades/", {"dry_run": True, "filter": chosen})["id"]
    wait_for(platform.waiting_at_low_priority, PATIENCE_SECONDS, "the regrades to be queued")
    # As many as one learner may have on the queue: more would wait for their turn elsewhere, and
    # the worker takes up a regrade while the next is on its way.
    new = [platform.submit(f"{WRONG}\n# new {number}", "author") for number in range(2)]
    earlier = len(in_order_of_ending(platform))
    platform.worker.start()

    def graded() -> bool:
        return bool(grader.call("GET", f"regrades/{run}/")["state"] == "graded")

    wait_for(graded, PATIENCE_SECONDS, "the regrades to end")
    ended = in_order_of_ending(platform)[earlier:]
    assert [is_regrade for _, is_regrade in ended] == [False] * 2 + [True] * 20
    assert {identity for identity, _ in ended[:2]} == set(new)
    # A dry run: what it grades again is as it was.
    assert {identity: platform.row(identity) for identity in twenty} == before
