"""The verdict's page says first what is wrong with this very submission."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from grader import tasks
from grader.models import Outcome, Submission
from grader.outcomes import TEXTS

from .messages import full_report, verdict

pytestmark = pytest.mark.django_db
SPECIFIC = "In a public case forward changed its input."


@pytest.fixture
def page(client: Client, learner: User, submit: Callable[..., Submission]) -> Callable[..., str]:
    """Return the page of a submission whose report has these fields."""

    def show(
        outcome: str = "wrong_answer", worst: dict[str, Any] | None = None, **fields: Any
    ) -> str:
        submission = submit()
        report = full_report(outcome == "accepted") | fields
        report["worst"] = report["worst"] | (worst or {})
        tasks.record_verdict(verdict(submission, outcome, report=report))
        client.force_login(learner)
        return client.get(submission.get_absolute_url()).content.decode()

    return show


def test_what_is_wrong_here_comes_before_what_holds_for_all(page: Callable[..., str]) -> None:
    text = page(failure={"message": SPECIFIC})
    generic = text.index("At least one result lies outside the tolerance")
    assert text.index(SPECIFIC) < text.index("eps is added outside the root.") < generic
    assert text.count("At least one result lies outside the tolerance") == 1
    assert '<p class="help report-part">Wrong answer: At least one' in text


def test_an_outcome_without_particulars_is_explained_in_its_head(page: Callable[..., str]) -> None:
    text = page("accepted")
    assert text.index(TEXTS[Outcome.ACCEPTED].meaning) < text.index("What was checked")
    assert "help report-part" not in text


@pytest.mark.parametrize(
    ("outcome", "worst", "title"),
    [
        ("accepted", {}, "The largest error, within the limit"),
        ("wrong_answer", {}, "The first failing case"),
        ("wrong_answer", {"units": 40.0}, "The first failing case"),
        ("wrong_answer", {"units": 0.5, "got": "0.5"}, "The largest error of the case that failed"),
        (
            "wrong_answer",
            {"units": 0.5, "got": "0.5", "failed": False},
            "The largest error, within the limit",
        ),
    ],
)
def test_the_shown_element_is_called_what_it_is(
    page: Callable[..., str], outcome: str, worst: dict[str, Any], title: str
) -> None:
    text = page(outcome, worst)
    titles = (
        "The first failing case",
        "The largest error of the case",
        "The largest error, within",
    )
    assert f'id="worst-title">{title}<' in text
    assert sum(text.count(f'"worst-title">{one}') for one in titles) == 1
    assert ("the case failed for the reason given above" in text) == ("of the case" in title)
