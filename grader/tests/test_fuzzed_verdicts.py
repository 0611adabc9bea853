"""Whatever a worker sends, the submission ends in a state with a readable page."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from grader.models import Submission
from grader.tests.messages import full_report, verdict, worker
from tests.tiers import examples

MANGLED: dict[str, Any] = {
    "nan": float("nan"),
    "infinite": float("inf"),
    "1e999": json.loads("1e999"),
    "null": None,
    "list": [1, 2],
    "object": {"a": 1},
    "text": "zero",
    "huge": "x" * 10_000_000,
    "negative": -1,
    "deep": json.loads("[" * 500 + "]" * 500),
    "nul": "a\x00b",
    "surrogate": "\ud800",
    "escape": "\x1b[31m\u202e<script>alert(1)</script>",
}
PLACES = [
    ("version",),
    ("outcome",),
    ("score",),
    ("node",),
    ("report",),
    ("report", "groups"),
    ("report", "groups", 0),
    ("report", "groups", 0, "weight"),
    ("report", "groups", 0, "title"),
    ("report", "worst"),
    ("report", "worst", "units"),
    ("report", "worst", "expected"),
    ("report", "worst", "histogram"),
    ("report", "mistakes"),
    ("report", "mistakes", 0, "explanation"),
    ("report", "failure"),
    ("report", "output"),
    ("report", "timings"),
    ("report", "receipt"),
    ("report", "receipt", "limits"),
]


def mangle(message: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    mangled: Any = copy.deepcopy(message)
    inner = mangled
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    return mangled


def assert_readable(client: Client, submission: Submission) -> str:
    for suffix in ("", "?fragment=1"):
        response = client.get(submission.get_absolute_url() + suffix)
        assert response.status_code == 200
    text = response.content.decode()
    assert "<script>alert" not in text
    assert "<b>world" not in text
    submission.refresh_from_db()
    assert submission.state in ("queued", "finished")
    return text


@pytest.mark.parametrize("value", MANGLED.values(), ids=MANGLED.keys())
def test_a_mangled_verdict_never_breaks_the_page(
    submit: Callable[..., Submission], learner: User, value: Any, settings: Any
) -> None:
    settings.GRADING = {**settings.GRADING, "MAX_OPEN_SUBMISSIONS_PER_LEARNER": 99}
    client = Client()
    client.force_login(learner)
    for number, place in enumerate(PLACES):
        submission = submit(f"x = {number}")
        worker.record_verdict(mangle(verdict(submission, "wrong_answer"), place, value))
        submission.refresh_from_db()
        assert submission.outcome != "accepted"
        if number % 5 == 0 or submission.outcome:
            assert_readable(client, submission)


@pytest.mark.parametrize("place", PLACES, ids=[".".join(map(str, place)) for place in PLACES])
def test_a_verdict_with_a_missing_or_unknown_key_never_passes(
    submit: Callable[..., Submission], learner: User, place: tuple[Any, ...]
) -> None:
    client = Client()
    client.force_login(learner)
    submission = submit()
    message = mangle(verdict(submission, "wrong_answer"), place, None)
    inner: Any = message
    for step in place[:-1]:
        inner = inner[step]
    del inner[place[-1]]
    if isinstance(inner, dict):
        inner["unknown"] = 1
    worker.record_verdict(message)
    assert_readable(client, submission)


# What UTF-8 can hold; said by category, it is found at once.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*full_report(False), "id", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(
    max_examples=examples(60),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@example(place=("report", "worst", "histogram"), value=[-1])
@given(place=st.sampled_from(PLACES), value=JSON)
def test_any_json_in_any_place_leaves_a_readable_page(
    submit: Callable[..., Submission],
    learner: User,
    client: Client,
    place: tuple[Any, ...],
    value: Any,
) -> None:
    Submission.objects.all().delete()
    client.force_login(learner)
    submission = submit()
    worker.record_verdict(mangle(verdict(submission, "wrong_answer"), place, value))
    assert_readable(client, submission)


def test_output_is_stored_without_nul_and_shown_escaped(
    submit: Callable[..., Submission], learner: User, client: Client
) -> None:
    submission = submit()
    printed = "\0\ud800\x1b[31m<img src=x onerror=alert(1)>\u202e" + "y" * 10_000
    report = {**full_report(False), "output": printed}
    worker.record_verdict(verdict(submission, "runtime_error", report=report))
    client.force_login(learner)
    text = assert_readable(client, submission)
    assert submission.outcome == "runtime_error"
    assert "\0" not in submission.report["output"]
    assert "<img" not in text
    assert "&lt;img src=x" in text
