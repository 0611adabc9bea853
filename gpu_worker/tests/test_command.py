"""The engine from the command line."""

from __future__ import annotations

import json

import pytest

from gpu_worker.__main__ import EXIT_NOT_ACCEPTED, main
from gpu_worker.exercises import get
from gpu_worker.exercises.stored import stored
from gpu_worker.messages.protocol import Track
from gpu_worker.tests.shipped import shipped

WRONG = {
    "rmsnorm": "gamma_missing",
    "layernorm": "beta_missing",
    "softmax_cross_entropy": "mean_for_sum",
}


def test_every_exercise_is_listed() -> None:
    assert set(shipped(Track.NUMPY)) == WRONG.keys()


@pytest.mark.parametrize("slug", WRONG)
def test_a_wrong_answer_is_explained(slug: str, capsys: pytest.CaptureFixture[str]) -> None:
    (wrong,) = (item for item in stored(get(slug), "wrong") if item.path.stem == WRONG[slug])
    grade = ["grade", str(wrong.path), "--exercise", slug]
    assert main([*grade, "--json"]) == EXIT_NOT_ACCEPTED
    report = json.loads(capsys.readouterr().out)["report"]
    assert main([*grade, "--seed", report["receipt"]["seed"]]) == EXIT_NOT_ACCEPTED
    told = capsys.readouterr().out
    assert told.startswith("wrong answer, score ")
    (mistake,) = report["mistakes"]
    assert f"known mistake: {mistake['explanation']}\n" in told
    (line,) = (line for line in told.splitlines() if line.startswith("first wrong result: "))
    # Softmax has no eps.
    assert (", eps " in line) == (slug != "softmax_cross_entropy")
    assert slug != "softmax_cross_entropy" or ", eps" not in report["failure"]["message"]


@pytest.mark.parametrize("seed", ["xyz", "-1"])
def test_an_invalid_seed_is_refused_with_an_explanation(
    seed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["grade", "none.py", "--exercise", "rmsnorm", f"--seed={seed}"])
    assert f"argument --seed: invalid hexadecimal number: '{seed}'" in capsys.readouterr().err


def test_the_track_defaults_to_the_exercises_first(capsys: pytest.CaptureFixture[str]) -> None:
    slug = "rmsnorm_two_kernels"
    file = get(slug).folder / "starter_cupy.py"
    assert main(["grade", str(file), "--exercise", slug]) == EXIT_NOT_ACCEPTED
    told = capsys.readouterr().out
    assert told.startswith("contract error, score 70%")
    assert "Every result is right." in told
