"""Fairness: learners take turns, however much each of them sends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from grader import queries, services
from grader.models import Submission
from grader.tests.conftest import FakeBroker
from grader.tests.messages import attempt_of, progress, verdict, worker

pytestmark = pytest.mark.postgres

Submit = Callable[..., Submission]
Committed = Callable[..., Any]


@pytest.fixture(autouse=True)
def _many_may_wait(settings: Any) -> None:
    more = {"MAX_OPEN_SUBMISSIONS_PER_LEARNER": 99, "SUBMISSIONS_PER_MINUTE": 99}
    settings.GRADING = {**settings.GRADING, **more}


def served(broker: FakeBroker) -> list[str]:
    """The submissions in the order in which the queue got them."""
    return [job["submission"] for job in broker.sent]


def test_a_learner_has_few_jobs_on_the_queue_and_each_end_sends_the_next(
    submit: Submit, broker: FakeBroker, committed: Committed
) -> None:
    mine = [submit(f"x = {n}") for n in range(4)]
    assert served(broker) == [s.public_id for s in mine[:2]]
    committed(worker.record_progress, progress(mine[0]))
    assert len(broker.sent) == 2
    committed(worker.record_verdict, verdict(mine[0]))
    assert served(broker) == [s.public_id for s in mine[:3]]
    assert services.send_outbox() == 0


def test_a_latecomer_waits_for_few_of_another_learners_submissions(
    submit: Submit, other: User, broker: FakeBroker, committed: Committed
) -> None:
    mine = [submit(f"x = {n}") for n in range(50)]
    theirs = submit("x = 99", user=other)
    for submission in mine[:4]:
        committed(worker.record_verdict, verdict(submission))
    assert served(broker).index(theirs.public_id) == 2


def test_every_ended_attempt_sends_the_next_one(
    submit: Submit, broker: FakeBroker, committed: Committed
) -> None:
    mine = [submit(f"x = {n}") for n in range(5)]
    for submission in mine:
        committed(worker.record_verdict, verdict(submission, "wrong_answer"))
    assert served(broker) == [s.public_id for s in mine]


def test_a_lost_attempt_holds_the_place_of_its_learner(
    submit: Submit, broker: FakeBroker, committed: Committed
) -> None:
    mine = [submit(f"x = {n}") for n in range(3)]
    committed(services.reject_verdict, mine[0].public_id, attempt_of(mine[0]).lease, "broken")
    # One slot is free and two wait for it: the older one gets it, the other keeps waiting.
    assert len(broker.sent) == 3
    assert queries.queue_position(mine[1]) == 1


def test_messages_that_waited_for_the_broker_take_turns_too(
    submit: Submit, other: User, broker: FakeBroker, settings: Any
) -> None:
    settings.GRADING = {**settings.GRADING, "OUTBOX_BATCH_SIZE": 5}
    broker.down = True
    mine = [submit(f"x = {n}") for n in range(9)]
    theirs = submit("x = 99", user=other)
    broker.down = False
    services.send_outbox()
    services.send_outbox()
    assert set(served(broker)) == {mine[0].public_id, mine[1].public_id, theirs.public_id}


class TestPosition:
    def test_it_is_the_order_in_which_learners_are_served(
        self, submit: Submit, other: User, broker: FakeBroker, committed: Committed
    ) -> None:
        """Whoever is said to be n-th is graded n-th: the whole queue, served one by one."""
        mine = [submit(f"x = {n}") for n in range(5)]
        theirs = [submit(f"y = {n}", user=other) for n in range(3)]
        said = {s.public_id: queries.queue_position(s) for s in (*mine, *theirs)}
        order: list[str] = []
        while len(order) < len(broker.sent):
            order.append(broker.sent[len(order)]["submission"])
            submission = Submission.objects.get(public_id=order[-1])
            committed(worker.record_verdict, verdict(submission))
        assert sorted(order) == sorted(said)
        assert [said[identity] for identity in order] == list(range(1, 9))
        owners = ["mine" if i in {s.public_id for s in mine} else "theirs" for i in order]
        assert owners[2:4] == ["theirs", "theirs"]

    def test_an_attempt_with_a_worker_has_no_position_but_counts_for_others(
        self, submit: Submit, other: User
    ) -> None:
        first, second = submit("x = 1"), submit("x = 2", user=other)
        worker.record_progress(progress(first, "claimed"))
        assert queries.queue_position(first) is None
        assert queries.queue_position(second) == 2

    def test_the_page_shows_it(self, submit: Submit, learner: User, client: Client) -> None:
        mine = [submit(f"x = {n}") for n in range(4)]
        client.force_login(learner)
        page = client.get(mine[3].get_absolute_url() + "?fragment=1")
        assert "Position 4 in the queue" in page.content.decode()
