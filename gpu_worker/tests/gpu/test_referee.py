"""The referee of timed calls: what it draws, compares and answers. Its device is NumPy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gpu_worker.exercises import get
from gpu_worker.gpu.referee import Errand, Placed, Referee, serve
from gpu_worker.gpu.speed import Conversation
from gpu_worker.tests.gpu.numpy_device import SMALL, NumpyDevice


@pytest.fixture(params=["rmsnorm", "layernorm"])
def refereed(request: pytest.FixtureRequest) -> Iterator[tuple[Referee, Conversation, Any]]:
    """A referee whose device is NumPy, with its memory."""
    exercise = get(request.param)
    talk = Conversation(exercise, "", np.random.default_rng(3), SMALL, "reference_numpy")
    errand = talk.errand.model_copy(update={"expected": "reference_numpy"})
    with talk.job as job:
        memory = bytearray(job.nbytes)
        yield Referee(NumpyDevice(), memory, errand), talk, memory


def solve(talk: Conversation, memory: Any) -> dict[str, Any]:
    """Answer the inputs in the memory rightly, and return the results there."""
    exercise, arrays = talk.exercise, {}
    layer = exercise.module("reference_numpy")
    layer = getattr(layer, exercise.class_name)(SMALL.shape[1], exercise.default_eps)
    for name, values in talk.parameters.items():
        setattr(layer, name, values)
    given = {
        kind: np.frombuffer(memory, room.dtype, 40 * 33, room.place).reshape(room.shape)
        for kind, room in zip(talk.places, talk.job.inputs.values(), strict=True)
    }
    answers = {"y": layer.forward(given["forward"]), "dx": layer.backward(given["backward"])}
    for name, room in zip(talk.quantities, talk.job.results, strict=True):
        size = int(np.prod(room.shape))
        arrays[name] = np.frombuffer(memory, room.dtype, size, room.place).reshape(room.shape)
        arrays[name][...] = answers[name] if name in answers else getattr(layer, name)
    return arrays


def test_a_referee_accepts_correct_results_and_finds_the_worst_error(
    refereed: tuple[Referee, Conversation, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # In pieces of a few rows, as those of a large array are.
    monkeypatch.setattr("gpu_worker.gpu.referee.PIECE_ELEMENTS", 33 * 7)
    referee, talk, memory = refereed
    for direction in SMALL.directions:
        referee.draw(direction)
    results = solve(talk, memory)
    assert all(worst.units is not None and worst.units <= worst.limit for worst in referee.check())
    results["y"][38, 2] += 1
    results["dx"][0, 0] = np.nan
    results["dgamma"][5] *= 1.01
    found = {worst.quantity: worst for worst in referee.check()}
    assert found["y"].index == [38, 2]
    assert (found["dx"].index, found["dx"].units, found["dx"].got) == ([0, 0], None, "nan")
    assert found["dgamma"].index == [5]
    assert all(
        worst.units is None or worst.units > worst.limit
        for name, worst in found.items()
        if name != "dbeta"
    )


def test_what_a_program_does_to_its_inputs_does_not_reach_the_referee(
    refereed: tuple[Referee, Conversation, Any],
) -> None:
    referee, talk, memory = refereed
    for direction in SMALL.directions:
        referee.draw(direction)
    solve(talk, memory)
    room = next(iter(talk.job.inputs.values()))
    memory[room.place : room.place + room.nbytes] = bytes(room.nbytes)
    assert all(worst.units is not None and worst.units <= worst.limit for worst in referee.check())


def test_every_input_is_new_and_own_times_start_with_empty_caches(
    refereed: tuple[Referee, Conversation, Any],
) -> None:
    referee, talk, memory = refereed
    room = next(iter(talk.job.inputs.values()))
    seen = set()
    for _ in range(3):
        referee.draw("forward")
        seen.add(bytes(memory[room.place : room.place + room.nbytes]))
    assert len(seen) == 3
    device: Any = referee._device
    before = device.cleared
    times = referee.own("forward")
    assert set(times) == {"copy", "reference"}
    assert device.cleared == before + 2


def test_a_referee_answers_each_line_and_refuses_unknown_commands(
    refereed: tuple[Referee, Conversation, Any],
) -> None:
    referee, *_ = refereed
    answers: list[str] = []
    serve(referee, iter(["ping\n", "draw forward\n", "own forward\n"]), answers.append)
    assert [sorted(json.loads(answer)) for answer in answers] == [[], [], ["copy", "reference"]]
    with pytest.raises(ValueError, match="no such command"):
        serve(referee, iter(["erase\n"]), answers.append)


def test_an_errand_survives_as_text() -> None:
    errand = Errand(
        exercise="rmsnorm", modulus="m", expected="e", dtype="float32", rows=1, dim=2, eps=1e-6,
        parameters={"gamma": [0.5, float(np.float32(0.1))]}, inputs={"forward": 0},
        results=[Placed(quantity="y", place=8)], seed=1 << 61,
    )  # fmt: skip
    assert Errand.model_validate_json(errand.model_dump_json()) == errand
