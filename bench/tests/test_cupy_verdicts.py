"""What is summed up of many gradings on the CuPy track."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from bench import cupy_verdicts


def graded(name: str, outcome: str, **fields: Any) -> dict[str, Any]:
    empty = {"named": [], "found": [], "complaint": "", "why": "", "seed": "5"}
    return {"name": name, "outcome": outcome, **empty, **fields}


def test_false_alarms_misses_and_findings_are_counted() -> None:
    results = [
        graded("correct/array_expressions", "accepted"),
        graded("correct/array_expressions", "time_limit", complaint="Too slow.", why="Why."),
        graded("wrong/missing_barrier", "wrong_answer", found=["missing-barrier"]),
        graded("wrong/missing_barrier", "accepted", complaint="Missed."),
    ]
    kept: Any = SimpleNamespace(results=lambda slug: results, complete=2, code="0")

    summed = cupy_verdicts._summed_up("layernorm", kept)

    assert summed["correct"] == {"submissions": 1, "gradings": 2, "not_accepted": 1}
    assert (summed["wrong"]["submissions"], summed["wrong"]["accepted"]) == (1, 1)
    assert summed["expected_findings"] == {"missing-barrier": {"expected": 2, "found": 1}}
    assert summed["first_complaints"] == [
        "Too slow. Seed 5. Why.",
        "Missed. Seed 5.",
    ]


def test_a_round_grades_right_and_wrong_programs_of_each_exercise_with_the_track() -> None:
    work = cupy_verdicts.work()

    assert {slug for slug, _ in work} >= {"layernorm", "rmsnorm"}
    assert len(work) == len(set(work))
    for slug in ("layernorm", "rmsnorm"):
        assert (slug, "correct/reference_kernels") in work
        assert (slug, "wrong/missing_barrier") in work
