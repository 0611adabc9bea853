"""Timed calls on a device: the conversation, and the referee. Times of a stand-in mean nothing."""

from __future__ import annotations

import dataclasses
import mmap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_worker.exercises import get
from gpu_worker.gpu import examination, speed, track
from gpu_worker.gpu.inventory import Gpu
from gpu_worker.gpu.job import DeviceJob
from gpu_worker.gpu.limits import limits_of
from gpu_worker.gpu.referee import Errand, Referee, Worst
from gpu_worker.gpu.sandbox.zygote import DeviceZygote
from gpu_worker.gpu.speed import Conversation, play_plan
from gpu_worker.gpu.timing_plan import Plan
from gpu_worker.judge.running.timed_calls import Timed
from gpu_worker.sandbox.errors import SandboxError
from gpu_worker.sandbox.inside.wire import Frame, FrameKind, encode_head
from gpu_worker.tests.cupy.conftest import submission
from gpu_worker.tests.gpu.numpy_device import SMALL, NumpyDevice
from gpu_worker.tests.gpu.stand_in import DRIVER, FACTS, GPU

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def _time_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine too, every call is played."""
    for name in ("BUDGET_SECONDS", "WALL_SECONDS"):
        monkeypatch.setattr(speed, name, 60.0)


@pytest.fixture
def _stand_in_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the referee's process import the stand-in driver."""
    monkeypatch.setenv("PYTHONPATH", f"{DRIVER}:{ROOT}")
    monkeypatch.setenv("STAND_IN_DRIVER", "old")
    monkeypatch.setattr(examination, "_KEPT", (*examination._KEPT, "STAND_IN_DRIVER"))


class InProcess:
    """A referee in this process, whose device is NumPy."""

    def __init__(self, gpu: Gpu, descriptor: int, errand: Errand, kernels: str) -> None:
        memory = mmap.mmap(descriptor, 0)
        own = {"expected": "reference_numpy", "modulus": "reference_numpy"}
        self._referee = Referee(NumpyDevice(), memory, errand.model_copy(update=own))
        self.draw, self.flush = self._referee.draw, self._referee.flush
        self.check = self._referee.check

    def own(self, direction: str) -> tuple[float, float]:
        found = self._referee.own(direction)
        return found["copy"], found["reference"]

    def round_trip(self) -> float:
        return 0.0

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *_: Any) -> None:
        return


@pytest.fixture
def _referee_in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "RefereeProcess", InProcess)


# --- the whole conversation, in the sandbox ------------------------------------------------------
def timed(zygote: DeviceZygote, source: str, plan: Plan = SMALL) -> Timed:
    limits = {**get("rmsnorm").limits_for("cupy"), **limits_of(FACTS)}
    rng = np.random.default_rng(5)
    return play_plan(
        GPU, get("rmsnorm"), source, limits, zygote, rng, plan, "", "reference_cupy"
    )  # fmt: skip


def changed(method: str) -> str:
    """Return the right program with a method replaced; `super` is what it was."""
    return (
        f"{submission('array_expressions')}\nRight = RMSNormScratch\n"
        f"class RMSNormScratch(Right):\n{method}"
    )


@pytest.mark.usefixtures("_stand_in_driver")
def test_a_right_program_is_timed_in_both_directions(device_zygote: DeviceZygote) -> None:
    found = timed(device_zygote, submission("array_expressions"))
    assert (found.failed, found.stop) == (None, None), found.run
    assert found.speed is not None
    assert (found.speed.shape, found.speed.dtype) == ([40, 33], "float32")
    assert found.speed.reference == "the reference of array expressions"
    assert [(row.direction, row.calls) for row in found.speed.rows] == [
        ("forward", 2),
        ("backward", 2),
    ]
    assert all(row.reference_ms > 0 and row.copy_ms > 0 for row in found.speed.rows)


LATE = """
    calls = 0
    def forward(self, x):
        RMSNormScratch.calls += 1
        y = super().forward(x)
        return y * 0 if RMSNormScratch.calls == 2 else y
"""
REPLAY = """
    kept = None
    def forward(self, x):
        y = super().forward(x)
        if RMSNormScratch.kept is None: RMSNormScratch.kept = y
        return RMSNormScratch.kept
"""
LAST_ROW = """
    def backward(self, dout):
        dx = super().backward(dout)
        dx[-1, -1] += 1
        return dx
"""
WIDE = """
    def forward(self, x):
        return super().forward(x).astype(cp.float64)
"""
RAISES = """
    def backward(self, dout):
        cp.cuda.stand_in_break()
        return dout
"""
LIES = """
    def forward(self, x):
        import os, struct
        os.write(4, struct.pack("<BHHQ", 1, 0, 2, 0))
        return super().forward(x)
"""


@pytest.mark.usefixtures("_referee_in_process")
@pytest.mark.parametrize(
    ("method", "outcome", "says"),
    [
        (LATE, "wrong_answer", "y is outside"),
        (REPLAY, "wrong_answer", "y is outside"),
        (LAST_ROW, "wrong_answer", "dx is outside"),
        (WIDE, "contract_error", "A result is far larger"),
        (RAISES, "runtime_error", "raised CUDARuntimeError"),
    ],
    ids=["late", "replay", "last-row", "wide", "raises"],
)
def test_a_result_that_is_wrong_only_when_timed_is_found(
    device_zygote: DeviceZygote, method: str, outcome: str, says: str
) -> None:
    found = timed(device_zygote, changed(method))
    assert found.speed is None
    assert found.failed is not None, found.run
    verdict = found.failed.verdict
    assert (verdict.outcome, says in verdict.message) == (outcome, True), verdict.message
    if method == LAST_ROW:
        assert verdict.worst is not None
        assert verdict.worst.index == (39, 32)


@pytest.mark.usefixtures("_referee_in_process")
def test_a_program_that_sends_frames_of_the_harness_is_held_for_review(
    device_zygote: DeviceZygote,
) -> None:
    found = timed(device_zygote, changed(LIES))
    assert found.speed is None
    assert found.stop is not None
    assert found.stop.outcome == "flagged"


@pytest.mark.usefixtures("_referee_in_process")
def test_a_single_forward_call_is_checked_and_not_timed(device_zygote: DeviceZygote) -> None:
    plan = Plan((9, 64), np.dtype("float16"), ("forward",), 1, False, "many elements")
    assert timed(device_zygote, submission("array_expressions"), plan) is not None
    found = timed(device_zygote, changed(REPLAY.replace("return RMS", "return 0 * RMS")), plan)
    assert found.failed is not None
    assert found.failed.case.family == "many elements"


def test_a_referee_without_a_usable_device_is_our_fault(
    device_zygote: DeviceZygote, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cupy.py").write_text("raise ImportError('CuPy is not installed')\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT}")
    with pytest.raises(SandboxError, match="CuPy is not installed"):
        timed(device_zygote, submission("array_expressions"))


def test_the_jobs_size_is_sealed_and_its_results_are_writable() -> None:
    talk = Conversation(get("rmsnorm"), "", np.random.default_rng(1), SMALL, "reference_cupy")
    with talk.job as job:
        assert isinstance(job, DeviceJob)
        assert [room.shape for room in job.results] == [(40, 33), (40, 33), (33,)]
        ends = [room.place + room.nbytes for room in job.inputs.values()]
        assert max(ends) <= job.results[0].place
        assert job.results[-1].place + job.results[-1].nbytes <= job.nbytes


def test_malformed_heads_mark_a_dishonest_runner() -> None:
    talk = Conversation(get("rmsnorm"), "", np.random.default_rng(1), SMALL, "reference_cupy")
    talk.referee = Asked()
    with talk.job:
        talk.begin()
        talk.on_frame(Frame(FrameKind.BEGIN, 0, 0, b""))
        talk.on_frame(Frame(FrameKind.BEGIN, 0, 2, b"\xff\xff\xff\xff"))
    assert talk.forged


class Asked:
    """A referee that only notes what it is asked."""

    def __init__(self) -> None:
        self.log: list[str] = []

    def round_trip(self) -> float:
        return 1e-3

    def draw(self, direction: str) -> None:
        self.log.append(f"draw {direction}")

    def flush(self) -> None:
        self.log.append("flush")

    def own(self, direction: str) -> tuple[float, float]:
        self.log.append(f"own {direction}")
        return 1.0, 1.0

    def check(self) -> list[Worst]:
        self.log.append("check")
        return []


def test_caches_are_emptied_after_each_input_and_own_times_recorded() -> None:
    talk = Conversation(get("rmsnorm"), "", np.random.default_rng(1), SMALL, "reference_cupy")
    talk.referee = asked = Asked()
    with talk.job:
        talk.begin()
        for number in range(SMALL.calls):
            for _ in SMALL.directions:
                talk.on_frame(Frame(FrameKind.BEGIN, number, 0, b""))
                talk.on_frame(Frame(FrameKind.BEGIN, number, 1, b""))
            heads = b"".join(_head(talk, name) for name in talk.quantities)
            talk.on_frame(Frame(FrameKind.BEGIN, number, 2, heads))
    assert talk.finished
    assert talk.summary() is not None
    without_own = [word for word in asked.log if not word.startswith("own")]
    call = ["draw forward", "flush", "draw backward", "flush", "check"]
    assert without_own == call * SMALL.calls
    assert sorted(set(asked.log) - set(call)) == ["own backward", "own forward"]


def _head(talk: Conversation, name: str) -> bytes:
    # Of no bytes in memory: only dtype and shape are said.
    head = encode_head(np.broadcast_to(np.float32(0), talk._shape_of(name)))
    return len(head).to_bytes(4, "little") + head


def test_a_grading_that_already_took_long_is_not_timed(
    monkeypatch: pytest.MonkeyPatch, device_zygote: DeviceZygote
) -> None:
    now = [0.0]
    measured: list[str] = []
    monkeypatch.setattr(track, "measure_on_device", lambda *_: measured.append("timed"))
    device = track.HeldDevice(GPU, FACTS, lambda: now[0])
    arguments = (get("rmsnorm"), "", {}, device_zygote, np.random.default_rng(1))
    device.measure(*arguments)
    now[0] = track.MEASURED_WITHIN_SECONDS + 1
    assert device.measure(*arguments) == Timed()
    assert measured == ["timed"]


def test_more_than_2_to_the_31_elements_are_checked_before_timing(
    monkeypatch: pytest.MonkeyPatch, device_zygote: DeviceZygote
) -> None:
    played: list[str] = []
    wrong = [True]

    def play(*arguments: Any) -> Timed:
        plan = arguments[-2]
        played.append(plan.family)
        talk = Conversation(get("rmsnorm"), "", np.random.default_rng(1), SMALL, "reference_cupy")
        with talk.job:
            talk.wrong = ("y is outside the tolerance.", None) if wrong[0] else None
            return Timed(failed=talk.failed())

    monkeypatch.setattr(speed, "play_plan", play)
    monkeypatch.setattr(speed, "huge_plan", lambda *_: dataclasses.replace(SMALL, family="huge"))
    monkeypatch.setattr(speed, "timing_plan", lambda *_: SMALL)
    arguments = (GPU, FACTS, get("rmsnorm"), "", {}, device_zygote, np.random.default_rng(1))
    assert speed.measure_on_device(*arguments).failed is not None
    assert played == ["huge"]
    wrong[0] = False
    speed.measure_on_device(*arguments)
    assert played == ["huge", "huge", "timed call"]
