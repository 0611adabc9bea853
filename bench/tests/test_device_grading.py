"""Grading on a device by the script: what is graded, what is left out, what counts as right."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bench import device as script
from bench.executor_outputs import use_executor
from bench.on_device import grading, page
from bench.on_device.budget import Budget
from gpu_worker.exercises import get
from gpu_worker.gpu.inventory import Gpu
from gpu_worker.gpu.lock import FOLDER
from gpu_worker.gpu.referee import Referee
from gpu_worker.gpu.speed import Conversation
from gpu_worker.gpu.timing_plan import Plan

GPU = Gpu("GPU-1", "invented", "0000:01:00.0", 0)


def item(name: str, kind: str = "wrong", device: str = "", *outcomes: str) -> Any:
    return SimpleNamespace(id=name, kind=kind, device=device, outcomes=outcomes)


def test_what_is_stored_is_graded_cheats_for_a_device_first() -> None:
    ids = [one.id for one in grading.stored_items()]
    assert len(ids) == len(set(ids))
    assert [one.kind for one in grading.stored_items()[:2]] == ["correct", "correct"]
    assert ids[2].startswith("rmsnorm-device-")
    assert "rmsnorm-cupy-wrong-missing_barrier" in ids


@pytest.mark.parametrize(
    ("stored", "outcome", "right"),
    [
        (item("a", "correct", "", "accepted"), "accepted", True),
        (item("a", "correct", "", "accepted"), "time_limit", False),
        (item("a", "wrong", "replays", "wrong_answer"), "wrong_answer", True),
        (item("a", "wrong", "replays", "wrong_answer"), "accepted", False),
        (item("a", "wrong", "slow", "accepted"), "accepted", True),
        (item("a", "wrong", "", "wrong_answer"), "runtime_error", True),
        (item("a", "wrong", "", "wrong_answer"), "accepted", False),
        (item("a", "wrong", "", "wrong_answer"), "ReturnedError: no GPU", False),
    ],
)
def test_each_must_end_as_it_must_on_a_device(stored: Any, outcome: str, right: bool) -> None:
    assert grading.is_right(stored, outcome) is right


def test_grading_ends_with_its_budget_and_goes_on_after_a_failure() -> None:
    now = [0.0]
    budget = Budget(30.0, lambda: now[0])

    def grade(one: Any) -> tuple[str, dict[str, Any]]:
        now[0] += 9.0
        if one.id == "broken":
            raise RuntimeError("the sandbox failed")
        return "accepted", {"score": 1.0}

    items = [item(name, "correct", "", "accepted") for name in ("a", "broken", "b", "c")]
    found = grading.grade_all(budget, grade, items, lambda: now[0])
    assert list(found["submissions"]) == ["a", "broken", "b"]
    assert found["wrong"] == ["broken"]
    assert found["submissions"]["a"]["seconds"] == 9.0
    assert budget.left_out == ["grading: 1 of 4 submissions, for want of time"]


def test_where_nothing_can_be_graded_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = Budget(100.0)
    nothing = {"submissions": {}, "of": 0, "wrong": []}
    assert script.grade_stored(budget, []) == nothing
    assert "shows no device" in budget.left_out[0]
    monkeypatch.setattr(grading, "on_this_machine", lambda: (None, "no bubblewrap"))
    assert script.grade_stored(budget, [GPU]) == nothing
    assert budget.left_out[1] == "grading of stored submissions: no bubblewrap"


def test_on_a_machine_without_a_device_each_grading_says_so() -> None:
    grade, why = grading.on_this_machine()
    assert why == ""
    found = grading.grade_all(Budget(100.0), grade, grading.stored_items()[:1])  # type: ignore[arg-type]
    (one,) = found["submissions"].values()
    assert one["outcome"].startswith("ReturnedError: The worker that took this submission has no")
    assert len(found["wrong"]) == 1


def test_what_is_compiled_ahead_is_said_to_be_missing_where_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    lost = Gpu("GPU-1", "invented", "0000:01:00.0", 0, "The device node is missing.")
    assert grading.prepare([lost], 1.0) == "The device node is missing."
    assert grading.prepare([], 1.0) == ""
    budget = Budget(100.0)
    monkeypatch.setattr(grading, "on_this_machine", lambda: (lambda one: ("accepted", {}), ""))
    monkeypatch.setattr(grading, "stored_items", lambda: [item("a", "correct", "", "accepted")])
    found = script.grade_stored(budget, [lost])
    assert list(found["submissions"]) == ["a"]
    assert budget.left_out == ["compiling ahead for submissions: The device node is missing."]


def test_the_page_tells_what_ended_otherwise() -> None:
    graded = {
        "submissions": {"x": {"expected": ["wrong_answer"], "outcome": "accepted"}},
        "of": 3,
        "wrong": ["x"],
    }
    results: dict[str, Any] = {
        "correctness": {"failures": []},
        "agreement": {"programs": {}},
        "times": [],
        "grading": graded,
    }
    assert "- x must end as wrong_answer, and ended as accepted" in page._failures(results)


# --- the referee with the executor's arrays ------------------------------------------------------
class ExecutorDevice:
    """The CPU executor in place of a device: its arrays refuse NumPy's functions as CuPy's do."""

    def __init__(self) -> None:
        self.xp: Any = use_executor()

    def synchronize(self) -> None:
        return

    def copy(self, target: Any, source: Any) -> None:
        target[...] = source

    def clear_caches(self) -> None:
        return

    def download(self, array: Any, out: Any) -> None:
        out[...] = self.xp.asnumpy(array)


@pytest.mark.parametrize("slug", ["rmsnorm", "layernorm"])
def test_a_referee_compares_and_times_with_arrays_that_are_not_numpys(slug: str) -> None:
    plan = Plan((6, 33), np.dtype(np.float32), ("forward", "backward"), 1, True, "timed call")
    talk = Conversation(get(slug), "", np.random.default_rng(3), plan)
    assert talk.errand.modulus == "fused_cupy"
    with talk.job as job:
        memory = bytearray(job.nbytes)
        referee = Referee(ExecutorDevice(), memory, talk.errand)
        for direction in plan.directions:
            referee.draw(direction)
            assert referee.own(direction)["reference"] > 0
        _solve(talk, memory)
        found = {worst.quantity: worst for worst in referee.check()}
        assert list(found) == talk.quantities
        assert all(one.units is not None and one.units <= one.limit for one in found.values())
        # One bit of the exponent of the last element of y.
        memory[job.results[0].place + job.results[0].nbytes - 2] ^= 0x80
        (wrong, *_) = referee.check()
        assert (wrong.quantity, wrong.index) == ("y", [5, 32])
        assert wrong.units is None or wrong.units > wrong.limit


def _solve(talk: Conversation, memory: Any) -> None:
    """Answer the inputs in the memory rightly."""
    exercise, plan = talk.exercise, talk.plan
    module = importlib.import_module(f"gpu_worker.exercises.{exercise.slug}.reference_numpy")
    layer = getattr(module, exercise.class_name)(plan.shape[1], exercise.default_eps)
    for name, values in talk.parameters.items():
        setattr(layer, name, values)
    x, dout = (
        np.frombuffer(memory, room.dtype, 6 * 33, room.place).reshape(room.shape)
        for room in talk.job.inputs.values()
    )
    answers = {"y": layer.forward(x), "dx": layer.backward(dout)}
    for name, room in zip(talk.quantities, talk.job.results, strict=True):
        values = answers[name] if name in answers else getattr(layer, name)
        memory[room.place : room.place + room.nbytes] = values.tobytes()
