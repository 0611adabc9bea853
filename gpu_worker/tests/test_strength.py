"""The check of an exercise: each mutant has one change, and weak cases are found."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from gpu_worker.exercises import Exercise, get, slugs
from gpu_worker.judge import Graded
from gpu_worker.judge.strength import checks as strength
from gpu_worker.judge.strength.checks import Fate, check_mutants, check_stored
from gpu_worker.judge.strength.mutants import mutants
from gpu_worker.messages.protocol import Outcome, Report
from gpu_worker.sandbox.client import Zygote
from gpu_worker.tests.conftest import RIGHT

SOURCE = '''
"""Text with 1 + 2 in it."""
EPS: "1 + 2" = 1e-6


def f(x, y):
    print(1 + 2)
    return -x + (y * 3).astype(float)


if __name__ == "__main__":
    f(1, 2)
'''


def test_each_mutant_changes_one_thing() -> None:
    changes = [mutant.change for mutant in mutants(SOURCE)]
    assert sorted(changes) == sorted(
        [
            "1e-06 becomes 2e-06",
            "+ becomes - in -x + (y * 3).astype(float)",
            "left side only of -x + (y * 3).astype(float)",
            "right side only of -x + (y * 3).astype(float)",
            "-x without its sign",
            "(y * 3).astype(float) without astype",
            "* becomes / in y * 3",
            "left side only of y * 3",
            "right side only of y * 3",
            "3 becomes 4",
        ]
    )
    assert len({mutant.source for mutant in mutants(SOURCE)}) == len(changes)
    assert all("1 + 2" in mutant.source for mutant in mutants(SOURCE))


def test_a_mutant_says_in_which_line_it_differs() -> None:
    lines = {mutant.line for mutant in mutants(SOURCE)}
    assert lines == {3, 8}


@pytest.fixture
def alone(tmp_path: Path) -> Exercise:
    """RMSNorm with a single stored submission of each kind."""
    for kind, head, source in (
        ("correct", "# outcome: accepted", RIGHT),
        ("wrong", "# outcome: wrong_answer\n# mistake: no-eps", RIGHT.replace(" + self.eps", "")),
    ):
        folder = tmp_path / "submissions" / kind
        folder.mkdir(parents=True)
        (folder / "one.py").write_text(f"{head}\n{source}", encoding="utf-8")
    exercise = get("rmsnorm")
    reference = "reference_numpy.py"
    (tmp_path / reference).write_bytes((exercise.folder / reference).read_bytes())
    return dataclasses.replace(exercise, folder=tmp_path)


def test_programs_not_graded_as_their_header_says_are_reported(
    alone: Exercise, zygote: Zygote
) -> None:
    assert [complaint for _, complaint in check_stored(alone, zygote)] == ["", ""]
    path = alone.folder / "submissions" / "wrong" / "one.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("no-eps", "root-missing"), encoding="utf-8")
    (_, complaint) = [complaint for _, complaint in check_stored(alone, zygote)]
    assert "must be named root-missing; it was: no-eps" in complaint
    path.write_text(f"# outcome: wrong_answer\n{RIGHT}", encoding="utf-8")
    (_, complaint) = [complaint for _, complaint in check_stored(alone, zygote)]
    assert "must end as wrong_answer, but ended as accepted" in complaint


def test_the_cases_kill_the_mutants_of_a_correct_program(alone: Exercise, zygote: Zygote) -> None:
    results = list(check_mutants(alone, zygote, per_solution=12))
    assert len(results) == 12
    assert {result.fate for result in results} <= {Fate.KILLED, Fate.EQUIVALENT}
    assert sum(result.fate is Fate.KILLED for result in results) >= 10


@pytest.mark.parametrize(
    ("outcomes", "fate"),
    [
        (["wrong_answer"], Fate.KILLED),
        (["accepted", "accepted", "wrong_answer"], Fate.SURVIVED),
        (["accepted"] * 20, Fate.EQUIVALENT),
    ],
)
def test_a_mutant_refused_only_sometimes_counts_as_survived(
    outcomes: list[str],
    fate: Fate,
    alone: Exercise,
    zygote: Zygote,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left = iter(outcomes)
    monkeypatch.setattr(
        strength,
        "_grade",
        lambda *args, **options: Graded(Outcome(next(left)), 0.0, Report()),
    )
    (result,) = check_mutants(alone, zygote, per_solution=1)
    assert result.fate is fate


@pytest.mark.long("Mutants of the exercises change with the engine's judging alone, which is rare.")
@pytest.mark.parametrize("slug", slugs())
def test_no_mutant_of_the_check_before_publishing_survives(slug: str, zygote: Zygote) -> None:
    """The results that come with LearnML hold for this engine: the rest of them is graded here."""
    exercise = get(slug)
    for step in strength.publishing_steps(exercise):
        if step.mutant is not None:
            assert strength.look_at(exercise, step, zygote) == ("", "")
