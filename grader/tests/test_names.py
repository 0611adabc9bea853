"""The names of mistakes arrive after the verdict, and only add to it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from gpu_worker.messages.protocol import Redelivery, Verdict
from grader import services
from grader.models import AttemptState, GradingAttempt, Outcome, Submission
from grader.models.graded import NAMING_PATIENCE
from grader.services import Recorded
from grader.tests.messages import attempt_of, from_a_gpu_node, full_report, verdict, worker

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]
Submit = Callable[..., Submission]
LOOKING = "Looking for the name of the mistake."
NAMED = "eps is added outside the root."


def first(submission: Submission, **fields: Any) -> dict[str, Any]:
    """Return what a worker sends before it looks for a name."""
    report = {**full_report(False), "mistakes": [], "notes": [], "naming": True}
    return verdict(submission, "wrong_answer", report=report) | fields


def second(submission: Submission, **fields: Any) -> dict[str, Any]:
    """Return what it sends with the name."""
    return verdict(submission, "wrong_answer") | fields


def columns(submission: Submission) -> dict[str, Any]:
    row = Submission.objects.values().get(pk=submission.pk)
    return {name: row[name] for name in row if name not in ("report", "version", "updated_at")}


def report_of(submission: Submission) -> dict[str, Any]:
    return dict(Submission.objects.get(pk=submission.pk).report)


def test_outcome_and_score_are_final_before_the_name_and_the_name_only_adds(submit: Submit) -> None:
    submission = submit()
    worker.record_verdict(first(submission))
    early, version = columns(submission), Submission.objects.get().version
    assert (early["state"], early["outcome"], early["score"]) == ("finished", "wrong_answer", 0.25)
    assert attempt_of(submission).state == AttemptState.FINISHED
    other_numbers = {**full_report(False), "groups": [], "output": "other"}
    worker.record_verdict(second(submission, score=0.0, report=other_numbers))
    assert columns(submission) == early
    now = report_of(submission)
    assert [mistake["id"] for mistake in now["mistakes"]] == ["eps-outside"]
    assert (now["naming"], now["notes"]) == (False, ["One note."])
    assert (len(now["groups"]), now["output"]) == (1, full_report(False)["output"])
    assert Submission.objects.get().version == version + 1


def test_late_and_duplicate_messages_change_nothing(submit: Submit) -> None:
    submission = submit()
    worker.record_verdict(second(submission))
    before = Submission.objects.values().get()
    for message in (first(submission), second(submission)):
        assert services.record_verdict(Verdict.from_message(message)) is Recorded.STALE
    assert Submission.objects.values().get() == before


@pytest.mark.parametrize(
    "fields", [{"outcome": "contract_error"}, {"lease": "0" * 32}, {"kind": "device"}]
)
def test_names_for_another_verdict_are_not_taken(submit: Submit, fields: dict[str, Any]) -> None:
    submission = submit()
    worker.record_verdict(first(submission))
    before = Submission.objects.values().get()
    late = Verdict.from_message(second(submission, **fields))
    assert services.record_verdict(late) is Recorded.STALE
    assert Submission.objects.values().get() == before


def test_a_worker_that_dies_before_it_sends_the_name_loses_nothing(
    submit: Submit, client: Client, learner: User
) -> None:
    submission = submit()
    worker.record_verdict(first(submission))
    before = Submission.objects.values().get()
    came_back = {
        name: value
        for name, value in second(submission).items()
        if name not in ("outcome", "score", "report")
    }
    back = Redelivery.from_message(came_back)
    assert services.record_redelivery(back) is Recorded.STALE
    GradingAttempt.objects.update(heartbeat_at=attempt_of(submission).created_at)
    assert services.requeue_lost().lost == 0
    assert Submission.objects.values().get() == before
    # Nor does the page look for ever.
    Submission.objects.update(finished_at=before["finished_at"] - NAMING_PATIENCE)
    client.force_login(learner)
    page = client.get(submission.get_absolute_url()).content.decode()
    assert LOOKING not in page
    assert 'data-final="true"' in page


def test_a_persons_score_given_meanwhile_stays(submit: Submit, grader: User) -> None:
    submission = submit()
    worker.record_verdict(first(submission))
    services.override_score(Submission.objects.get(), grader, 0.9, "A slip in the statement.")
    worker.record_verdict(second(submission))
    now = Submission.objects.get()
    assert (now.score, now.outcome) == (0.9, Outcome.WRONG_ANSWER)
    assert now.report["mistakes"]


def test_page_and_api_show_the_verdict_while_the_name_is_looked_for(
    submit: Submit, client: Client, learner: User, api: Any
) -> None:
    submission = submit()
    worker.record_verdict(first(submission))
    client.force_login(learner)
    early = client.get(f"{submission.get_absolute_url()}?fragment=1")
    page = early.content.decode()
    assert LOOKING in page
    assert "Where to look" not in page
    assert 'data-final="false"' in page
    assert "25 %" in page
    asked = api(learner).get(f"/api/v1/submissions/{submission.public_id}/")
    report = asked.json()["report"]
    assert (asked.json()["outcome"], report["naming"], report["mistakes"]) == (
        *("wrong_answer", True),
        [],
    )
    # A program that waits for the end waits for the names.
    assert asked.json()["state"] == "running"
    worker.record_verdict(second(submission))
    later = client.get(
        f"{submission.get_absolute_url()}?fragment=1", headers={"If-None-Match": early["ETag"]}
    )
    page = later.content.decode()
    assert later.status_code == 200
    assert LOOKING not in page
    assert NAMED in page
    assert 'data-final="true"' in page
    assert "and 1 mistake is named" in page
    found = api(learner).get(f"/api/v1/submissions/{submission.public_id}/").json()
    assert found["state"] == "finished"
    found = found["report"]
    assert (found["naming"], len(found["mistakes"])) == (False, 1)


def test_the_fragment_changes_when_the_name_is_given_up(
    submit: Submit, client: Client, learner: User
) -> None:
    submission = submit()
    worker.record_verdict(first(submission))
    client.force_login(learner)
    tag = client.get(f"{submission.get_absolute_url()}?fragment=1")["ETag"]
    at = Submission.objects.get().finished_at
    assert at is not None
    Submission.objects.update(finished_at=at - NAMING_PATIENCE - timedelta(seconds=1))
    again = client.get(
        f"{submission.get_absolute_url()}?fragment=1", headers={"If-None-Match": tag}
    )
    assert again.status_code == 200


def test_a_second_verdict_has_names_of_its_own(submit: Submit) -> None:
    submission = submit(track="cupy")
    worker.record_verdict(from_a_gpu_node(first(submission), submission))
    assert Submission.objects.get().second.report["naming"] is True
    worker.record_verdict(from_a_gpu_node(second(submission), submission))
    kept = Submission.objects.get().second
    assert (kept.report["naming"], kept.outcome) == (False, Outcome.WRONG_ANSWER)
    assert kept.report["mistakes"]
    assert Submission.objects.get().outcome is None


def test_a_regrade_has_names_of_its_own(
    submit: Submit, grader: User, django_capture_on_commit_callbacks: Any
) -> None:
    submission = submit()
    worker.record_verdict(verdict(submission))
    with django_capture_on_commit_callbacks(execute=True):
        services.start_regrade(grader, Submission.objects.all(), {})
    worker.record_verdict(first(submission))
    worker.record_verdict(second(submission))
    item = submission.regrade_items.get()
    assert (item.outcome, item.report["naming"]) == ("wrong_answer", False)
    assert item.report["mistakes"]
    assert Submission.objects.get().outcome == Outcome.ACCEPTED
