"""Each outcome has label, text, tone and icon, and templates take them from the table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import render_to_string

from grader.models import CodeRun, Outcome, RunOutcome, RunState, Submission, SubmissionState
from grader.presentation import outcomes
from grader.presentation.outcomes import Icon, Tone

ROOT = Path(settings.BASE_DIR)


def drawn(icon: Icon) -> str:
    return render_to_string("_icon.html", {"name": icon})


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_has_label_text_tone_and_icon(outcome: Outcome) -> None:
    assert outcome in outcomes.OUTCOMES, f"write {outcome!r} in grader/presentation/outcomes.py"
    shown = outcomes.shown_outcome(outcome)
    assert shown.label
    assert shown.meaning.endswith(".")
    assert shown.next_step.endswith(".")
    platform_fault = "not your code" in shown.meaning
    assert platform_fault == (outcome is Outcome.NOT_GRADABLE)
    assert (shown.tone is Tone.GOOD) == (outcome is Outcome.ACCEPTED)
    # A warning is what a person or the platform settles: nothing for the learner to repair.
    assert (shown.tone is Tone.WARN) == (outcome not in Outcome.scored())
    assert shown.icon in Icon


@pytest.mark.parametrize("outcome", list(RunOutcome))
def test_every_outcome_of_a_run_has_label_tone_and_icon(outcome: RunOutcome) -> None:
    assert outcome in outcomes.RUN_OUTCOMES, f"write {outcome!r} in grader/presentation/outcomes.py"
    run = CodeRun(state=RunState.FINISHED, outcome=outcome)
    badge = outcomes.badge_of_run(run, str(outcome.label))
    assert badge.label
    assert (badge.tone is Tone.GOOD) == (outcome is RunOutcome.COMPLETED)


def test_open_verdicts_are_neither_good_nor_bad() -> None:
    for state in SubmissionState.open():
        badge = outcomes.badge_of(Submission(state=state))
        assert (badge.tone, badge.icon) == (Tone.BUSY, Icon.CLOCK)
        assert badge.label[0].isupper()
    replaced = outcomes.badge_of(Submission(state=SubmissionState.REPLACED))
    assert (replaced.tone, replaced.icon) == (Tone.NEUTRAL, Icon.DASH)


def test_every_icon_is_drawn() -> None:
    nothing = len(re.findall("<(?:path|circle)", render_to_string("_icon.html", {"name": "none"})))
    assert nothing == 0
    assert all("<path" in drawn(icon) for icon in Icon)


@pytest.mark.parametrize("tone", [tone for tone in Tone if tone])
def test_every_tone_has_its_colour(tone: Tone) -> None:
    styles = (ROOT / "static/css/site.css").read_text(encoding="utf-8")
    assert f".state.is-{tone} " in styles


@pytest.mark.parametrize("outcome", list(Outcome))
def test_the_head_of_every_verdict_has_its_colour(outcome: Outcome) -> None:
    styles = (ROOT / "static/css/exercise.css").read_text(encoding="utf-8")
    assert f".verdict-head.is-{outcomes.shown_outcome(outcome).tone} " in styles


def test_a_badge_has_its_tone_as_class_and_its_words() -> None:
    text = render_to_string("grader/_badge.html", {"badge": outcomes.FAILED})
    assert 'class="state is-bad"' in text
    assert "Failed" in text
    assert 'class="state"' in render_to_string("grader/_badge.html", {"badge": outcomes.NOT_RUN})


def test_no_template_decides_what_an_outcome_looks_like() -> None:
    compared = re.compile(r"outcome\s*[!=]=")
    pages = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "grader/templates").rglob("*.html")]
    assert len(pages) > 20
    assert [page.name for page in pages if compared.search(page.read_text("utf-8"))] == []
