"""The verdict's page begins with what is wrong with this submission."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from grader.models import Outcome, Submission
from grader.presentation.outcomes import OUTCOMES

from .messages import full_report, verdict, worker

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
        worker.record_verdict(verdict(submission, outcome, report=report))
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
    assert text.index(OUTCOMES[Outcome.ACCEPTED].meaning) < text.index("What was checked")
    assert "help report-part" not in text


@pytest.mark.parametrize(
    ("outcome", "worst", "title"),
    [
        ("accepted", {}, "The largest error, within the limit"),
        ("wrong_answer", {}, "The first case with wrong numbers"),
        ("wrong_answer", {"units": 40.0}, "The first case with wrong numbers"),
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
        "The first case with wrong numbers",
        "The largest error of the case",
        "The largest error, within",
    )
    assert f'id="worst-title">{title}<' in text
    assert sum(text.count(f'"worst-title">{one}') for one in titles) == 1
    assert ("the case failed for the reason given above" in text) == ("of the case" in title)


def test_what_was_found_in_kernels_is_shown_at_its_line(page: Callable[..., str]) -> None:
    finding = {
        "kind": "missing-barrier",
        "severity": "error",
        "kernel": "forward<float>",
        "line": 1,
        "kernel_line": 1,
        "message": "A <thread> reads what another writes.",
        "case": "normal, shape (4, 31)",
    }
    text = page(findings=[finding], execution="functional, executed on CPU, not timed")
    assert "Functional, executed on CPU, not timed" in text
    assert '<code translate="no">missing-barrier</code>' in text
    assert 'in <code translate="no">forward&lt;float&gt;</code>' in text
    assert '<a href="#source-line-1">line 1 of your source</a>' in text
    assert "A &lt;thread&gt; reads" in text


def test_what_an_accepted_program_moves_is_shown(page: Callable[..., str]) -> None:
    kernel = {
        "name": "forward",
        "launches": 1,
        "grid": [16, 1, 1],
        "block": [128, 1, 1],
        "shared_bytes": 16,
        "barriers_per_row": 2.0,
        "coalescing": 0.25,
        "bank_conflicts": 7,
        "registers": 31,
        "spilled_bytes": 0,
        "occupancy": 0.75,
        "occupancy_limit": "registers",
    }
    row = {"direction": "forward", "bytes_read": 131072, "bytes_written": 65536}
    row |= {"bytes_least": 131072, "launches": 1, "kernels": [kernel]}
    counted = {"shape": [16, 1024], "dtype": "float32", "rows": [row], "advice": []}
    text = page("accepted", counted=counted)
    assert "What it moves" in text
    assert "16 × 1024 float32" in text
    # In the unit of the notes beside it: 16 × 1024 numbers of four bytes are one.
    for cell in ('131,072<br><span class="muted">2 NDs', ">1 NDs"):
        assert cell in text
    for cell in ("16 × 1 × 1,</span> <span>128 × 1 × 1", "25 %", ">7<", ">31<", "75 %"):
        assert cell in text
    assert "What it moves" not in page("accepted")
