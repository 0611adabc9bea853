"""The events of a submission, in order, and resuming from one."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from grader import services
from grader.events import EventKind
from grader.models import (
    AuditAction,
    AuditEntry,
    GradingAttempt,
    Outcome,
    RegradeItem,
    RegradeItemState,
    RegradeRun,
    Submission,
)
from grader.tests.calls import ROOT, Api, Submit, assert_problem
from grader.tests.messages import progress, verdict, worker
from grader.tests.test_api_schema import described
from tests.tiers import examples

Read = Callable[..., dict[str, Any]]
SCHEMA = Draft202012Validator(
    {"$ref": "#/components/schemas/Events", "components": described()["components"]}
)


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
    worker.record_progress(progress(submission))
    GradingAttempt.objects.filter(state="running").update(
        heartbeat_at=timezone.now() - timedelta(seconds=60)
    )
    services.requeue_lost()


def test_a_usual_life(submit: Submit, read: Read) -> None:
    submission = submit()
    first = read(submission)
    assert (kinds(first), first["last"], first["is_final"]) == (["submitted"], 1, False)
    worker.record_progress(progress(submission, "claimed"))
    worker.record_verdict(verdict(submission))
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
    worker.record_verdict(verdict(submission, "flagged"))
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
    worker.record_verdict(verdict(submission, "wrong_answer"))
    run = services.start_regrade(grader, Submission.objects.all(), {})
    worker.record_verdict(verdict(submission, "flagged"))
    before = read(submission)
    assert kinds(before) == ["submitted", "claimed", "graded"]
    services.commit_regrade(grader, run, "all")
    services.undo_regrade(grader, run)
    run = services.start_regrade(grader, Submission.objects.all(), {})
    worker.record_verdict(verdict(submission, "flagged"))
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


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["attempt", "score", "outcome", "reason", "kind", "other"]), inner
        )
    ),
    max_leaves=6,
).filter(lambda value: "Infinity" not in json.dumps(value) and "\\u0000" not in json.dumps(value))
ANY_MOMENT = st.none() | st.datetimes(timezones=st.just(UTC))
ANY_SCORE = st.none() | st.floats(allow_nan=False)
ANY_OUTCOME = st.sampled_from(["", "accepted", "flagged", "not_gradable", "of_a_new_one"])
ENTRY = st.fixed_dictionaries(
    {
        "action": st.sampled_from([*AuditAction.values, "of.another_release"]),
        "detail": ANY_JSON.filter(lambda value: value is not None),
        "before": ANY_JSON,
        "after": ANY_JSON,
    }
)
ATTEMPT = st.fixed_dictionaries(
    {
        "state": st.sampled_from(["finished", "lost", "returned", "replaced"]),
        "try_number": st.integers(1, 4),
        "returns": st.integers(0, 3),
        "outcome": ANY_OUTCOME,
        "claimed_at": ANY_MOMENT,
        "finished_at": ANY_MOMENT,
        "queue": st.just("cpu"),
    }
)
ITEM = st.fixed_dictionaries(
    {
        "old_outcome": ANY_OUTCOME,
        "outcome": st.sampled_from(Outcome.values),
        "old_score": ANY_SCORE,
        "score": ANY_SCORE,
        "applied_version": st.none() | st.integers(0, 5),
        "state": st.sampled_from([each for each in RegradeItemState.values if each != "waiting"]),
        "submission_version": st.just(1),
    }
)
RUN = st.fixed_dictionaries(
    {
        "state": st.sampled_from(["graded", "committed", "undone"]),
        "committed_at": ANY_MOMENT,
        "undone_at": ANY_MOMENT,
    }
)


@hypothesis_settings(max_examples=examples(50), suppress_health_check=list(HealthCheck))
@given(
    entries=st.lists(ENTRY, max_size=4),
    attempts=st.lists(ATTEMPT, max_size=3),
    runs=st.lists(st.tuples(RUN, ITEM), max_size=2),
)
def test_whatever_rows_there_are_it_is_answered_as_described(
    submit: Submit,
    read: Read,
    entries: list[dict[str, Any]],
    attempts: list[dict[str, Any]],
    runs: list[tuple[dict[str, Any], dict[str, Any]]],
) -> None:
    """As imports, former releases and other hands leave them: within the database's constraints."""
    submission = Submission.objects.first() or submit()
    with transaction.atomic():
        GradingAttempt.objects.all().delete()
        for number, fields in enumerate(attempts, start=1):
            GradingAttempt.objects.create(submission=submission, number=number, **fields)
        target = f"submission:{submission.public_id}"
        for fields in entries:
            AuditEntry.objects.create(target=target, actor_name="imported", **fields)
        for of_run, of_item in runs:
            run = RegradeRun.objects.create(**of_run)
            RegradeItem.objects.create(run=run, submission=submission, **of_item)
        answer = read(submission)
        assert SCHEMA.is_valid(answer)
        assert [event["number"] for event in answer["events"]] == [*range(1, answer["last"] + 1)]
        transaction.set_rollback(True)


def test_an_imported_submission_without_attempts_has_its_moments(
    submit: Submit, read: Read
) -> None:
    submission = submit()
    worker.record_verdict(verdict(submission, "wrong_answer"))
    GradingAttempt.objects.all().delete()
    events = read(submission)["events"]
    assert [(event["kind"], event["outcome"], event["score"]) for event in events] == [
        ("submitted", None, None),
        ("graded", "wrong_answer", 0.25),
    ]


def test_entries_of_former_releases_are_told(submit: Submit, read: Read) -> None:
    submission = submit()
    worker.record_verdict(verdict(submission, "wrong_answer"))
    target = f"submission:{submission.public_id}"
    told = {"score": 0.5, "reason": "As then."}
    AuditEntry.objects.create(target=target, action="override.set", detail=told)
    AuditEntry.objects.create(target=target, action="override.removed", detail={"score": 0.25})
    events = read(submission)["events"][-2:]
    assert [(event["kind"], event["score"], event["reason"]) for event in events] == [
        ("score_set", 0.5, "As then."),
        ("score_back", 0.25, None),
    ]
