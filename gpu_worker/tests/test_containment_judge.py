"""Attacks on the judge: a wrong program never passes, and hidden inputs stay hidden."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gpu_worker.tests.conftest import Grade
from gpu_worker.tests.containment import Attack, attacks
from gpu_worker.tests.targets import public_shapes

JUDGED = [attack for attack in attacks() if attack.kind == "judge"]
FOOL_A_NAIVE_GRADER = {
    *("19_search_for_the_answer", "20_patch_the_comparison", "28_claim_to_have_passed"),
    *("29_send_a_pickle", "30_return_a_liar"),
}


def by_name(attack: Attack) -> str:
    return attack.name


def only(kind: str) -> Attack:
    (attack,) = [attack for attack in attacks() if attack.kind == kind]
    return attack


@pytest.mark.parametrize("attack", JUDGED, ids=by_name)
def test_no_attack_on_the_judge_passes(attack: Attack, grade: Grade, right: str) -> None:
    graded = grade(attack.source, limits={"wall_seconds": 5.0})
    assert graded.outcome in attack.outcomes
    assert graded.score < 1.0
    # And the next submission is graded as if nothing had been.
    assert grade(right, cases="public").outcome == "accepted"


@pytest.mark.parametrize("name", sorted(FOOL_A_NAIVE_GRADER))
def test_a_grader_in_the_learners_process_would_be_fooled(name: str) -> None:
    (attack,) = [attack for attack in JUDGED if attack.name == name]
    done = subprocess.run(
        [sys.executable, "-m", "gpu_worker.tests.in_process"],
        input=attack.source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "accepted" in done.stdout


def test_a_report_contains_no_terminal_codes(grade: Grade) -> None:
    graded = grade(only("text").source)
    assert graded.outcome == "runtime_error"
    text = graded.report.model_dump_json()
    assert "<script>" in graded.report.output
    assert "\\u001b" not in text
    assert "\\u0000" not in text
    assert "\\u0007" not in text


def test_no_text_carries_hidden_inputs_back(grade: Grade) -> None:
    source = f"PUBLIC_SHAPES = {public_shapes()!r}\n" + only("leak").source
    graded = grade(source)
    assert graded.outcome in ("runtime_error", "wrong_answer")
    assert "LEAK" not in graded.report.model_dump_json()
    # The control: in a public case the same words are shown.
    shown = grade("PUBLIC_SHAPES = ()\n" + only("leak").source)
    assert "LEAK" in shown.report.output
    assert shown.report.failure is not None
    assert "LEAK" in shown.report.failure.traceback
