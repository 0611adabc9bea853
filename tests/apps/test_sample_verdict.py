"""The verdict that the home page shows is the one that the judge gives."""

from __future__ import annotations

import html
import re

import pytest
from django.test import Client

from gpu_worker.judge import grade_source
from grader.models import Outcome
from grader.presentation.outcomes import OUTCOMES
from tests.e2e.content import EPS_OUTSIDE_THE_ROOT


@pytest.mark.django_db
def test_the_sample_on_the_home_page_is_what_the_judge_says(client: Client) -> None:
    body = client.get("/").content.decode()
    sample = body[body.index('id="verdict"') : body.index('id="courses"')]
    verdict = grade_source("rmsnorm", "numpy", EPS_OUTSIDE_THE_ROOT)
    worst = verdict.report.worst
    assert worst is not None
    (mistake,) = verdict.report.mistakes
    text = html.unescape(re.sub(r"<[^>]*>", "", sample))
    for said in (
        OUTCOMES[Outcome(verdict.outcome)].label,
        mistake.explanation,
        worst.expected,
        worst.got,
    ):
        assert said in text
    assert f"{worst.quantity}{list(worst.index)}" in text
