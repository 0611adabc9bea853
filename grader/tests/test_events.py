"""What happened to a submission, in order, and going on from where one was."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from grader import services
from grader.events import EventKind
from grader.models import GradingAttempt, Submission
from grader.tests.calls import ROOT, Api, Submit, assert_problem
from grader.tests.messages import progress, verdict
from grader.tests.messages import worker as tasks

Read = Callable[..., dict[str, Any]]


@pytest.fixture
def read(api: Api, learner: User) -> Read:
    client = api(learner)

    def call(submission: Submission, after: int | None = None) -> dict[str, Any]:
        url = f"{ROOT}/submissions/{submission.public_id}/events/"
        response = client.get(url, {} if after is None else {"after": after})
        assert response.status_code == 200
        return dict(response.json())

    return call


def kinds(answer: dict[str, Any]) -> list[str]:
    return [event["kind"] for event in answer["events"]]


def lose(submission: Submission) -> None:
    tasks.record_progress(progress(submission))
    GradingAttempt.objects.filter(state="running").update(
        heartbeat_at=timezone.now() - timedelta(seconds=60)
    )
    services.requeue_lost()


def test_a_usual_life(submit: Submit, read: Read) -> None:
    submission = submit()
    first = read(submission)
    assert (kinds(first), first["last"], first["is_final"]) == (["submitted"], 1, False)
    tasks.record_progress(progress(submission, "claimed"))
    tasks.record_verdict(verdict(submission))
    rest = read(submission, after=first["last"])
    assert (kinds(rest), rest["last"], rest["is_final"]) == (["claimed", "graded"], 3, True)
    graded = rest["events"][-1]
    assert (graded["number"], graded["attempt"], graded["outcome"]) == (3, 1, "accepted")
    assert graded["score"] == 1.0
    assert graded["text"] == "The verdict is there."
    assert "node" not in graded
    assert read(submission, after=3)["events"] == []


def test_losses_sending_again_and_the_end(submit: Submit, read: Read, learner: User) -> None:
    submission = submit()
    seen: list[dict[str, Any]] = []
    for step in (lose, lose, lose):
        step(submission)
        seen += read(submission, after=len(seen))["events"]
    services.resubmit(learner, Submission.objects.get())
    tasks.record_verdict(verdict(submission, "flagged"))
    seen += read(submission, after=len(seen))["events"]
    assert [event["kind"] for event in seen] == [
        *("submitted", "claimed", "lost", "retried", "claimed", "lost"),
        *("retried", "claimed", "lost", "given_up"),
        *("resubmitted", "claimed", "graded"),
    ]
    # Read bit by bit or at once, it is the same.
    assert seen == read(submission)["events"]
    assert seen[2]["reason"] == "worker lost"


def test_what_graders_do(submit: Submit, read: Read, grader: User) -> None:
    submission = submit()
    tasks.record_verdict(verdict(submission, "wrong_answer"))
    run = services.start_regrade(grader, Submission.objects.all(), {})
    tasks.record_verdict(verdict(submission, "flagged"))
    before = read(submission)
    assert kinds(before) == ["submitted", "claimed", "graded"]
    services.commit_regrade(grader, run, "all")
    services.undo_regrade(grader, run)
    run = services.start_regrade(grader, Submission.objects.all(), {})
    tasks.record_verdict(verdict(submission, "flagged"))
    services.commit_regrade(grader, run, "all")
    services.decide_flagged(Submission.objects.get(), grader, "accepted", "It is fine.")
    after = read(submission, after=before["last"])
    assert kinds(after) == ["regraded", "regrade_undone", "regraded", "decided"]
    assert after["events"][0]["outcome"] == "flagged"
    assert (after["events"][1]["outcome"], after["events"][1]["score"]) == ("wrong_answer", 0.25)
    assert after["events"][3]["reason"] == "It is fine."
    assert read(submission)["events"][: len(before["events"])] == before["events"]
    assert before["events"][-1]["score"] == 0.25
    assert "by" not in after["events"][3]
    assert str(grader) not in [value for event in after["events"] for value in event.values()]


def test_who_may_read_and_what_is_no_number(
    submit: Submit, api: Api, other: User, grader: User, learner: User
) -> None:
    url = f"{ROOT}/submissions/{submit().public_id}/events/"
    assert_problem(api(other).get(url), 404)
    assert_problem(api().get(url), 401)
    assert api(grader, "read").get(url).status_code == 200
    for after in ("x", "-1", "1.5", "9" * 30):
        assert "after" in assert_problem(api(learner).get(url, {"after": after}), 400)["errors"]


def test_every_kind_says_what_it_is() -> None:
    assert all(kind.label.endswith(".") for kind in EventKind)
