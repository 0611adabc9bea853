"""Timing: the judge's clock, fresh input, outputs checked, nothing gated."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from gpu_worker.exercises import Exercise, get
from gpu_worker.judge.running import speed
from gpu_worker.judge.running.speed import measure_speed
from gpu_worker.judge.running.timed_calls import Timed
from gpu_worker.sandbox.client import Zygote
from gpu_worker.tests.conftest import Grade


def small(slug: str = "rmsnorm") -> Exercise:
    return dataclasses.replace(get(slug), timed_shape=(64, 256))


def timed(zygote: Zygote, source: str, exercise: Exercise | None = None, seed: int = 1) -> Timed:
    exercise = exercise or small()
    return measure_speed(exercise, source, exercise.limits, zygote, np.random.default_rng(seed))


@pytest.fixture(autouse=True)
def _time_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is checked here is not how busy this machine is."""
    monkeypatch.setattr(speed, "BUDGET_SECONDS", 20.0)
    monkeypatch.setattr(speed, "WALL_SECONDS", 10.0)


def test_an_accepted_submission_is_timed_in_both_directions(grade: Grade, right: str) -> None:
    graded = grade(right)
    assert graded.outcome == "accepted"
    assert graded.report.speed is not None
    rows = {row.direction: row for row in graded.report.speed.rows}
    assert list(rows) == ["forward", "backward"]
    size = 509 * 1024 * 4 / 1e6
    assert rows["forward"].megabytes == pytest.approx(2 * size)
    assert rows["backward"].megabytes == pytest.approx(3 * size)
    for row in rows.values():
        assert row.calls == speed.CALLS
        assert row.refused == ""
        assert 0 < row.copy_fraction < 1
        assert row.ms > row.copy_ms > 0
    assert sum("It does not count for the score." in note for note in graded.report.notes) == 2
    assert any(timing.phase == "timing" for timing in graded.report.timings)


def test_a_wrong_submission_is_not_timed(grade: Grade, right: str) -> None:
    assert grade(right.replace("+ self.eps", "+ 1e-5")).report.speed is None


def test_each_call_gets_input_that_was_not_there_before(zygote: Zygote, right: str) -> None:
    # The sum of what was seen so far comes back in dgamma: a repeated input would be seen.
    spy = right.replace(
        "        self.dtype = x.dtype\n",
        "        self.dtype = x.dtype\n"
        "        seen = type(self).__dict__.get('seen', set())\n"
        "        assert x.tobytes() not in seen\n"
        "        type(self).seen = seen | {x.tobytes()}\n",
    )
    result = timed(zygote, spy)
    assert result.failed is None
    assert result.speed is not None
    assert result.speed.rows[0].calls == speed.CALLS


def test_a_timed_output_that_is_wrong_is_a_wrong_answer(grade: Grade, right: str) -> None:
    lazy = right.replace(
        "        return (self.xhat", "        if x.size > 200_000:\n            return x * 0\n"
        "        return (self.xhat"
    )  # fmt: skip
    graded = grade(lazy)
    assert graded.outcome == "wrong_answer"
    assert graded.report.worst is not None
    assert graded.report.worst.family == "timed call"
    assert graded.report.failure is not None
    assert graded.score < 1.0


def test_the_last_timed_call_is_checked_like_the_first(zygote: Zygote, right: str) -> None:
    tired = right.replace("        self.dtype = x.dtype\n", "        self.dtype = x.dtype\n"
        "        type(self).calls = getattr(type(self), 'calls', 0) + 1\n").replace(
        "self.xhat * self.gamma)", "self.xhat * self.gamma * (1 + (self.calls > 4)))")  # fmt: skip
    assert timed(zygote, tired).failed is not None


def test_an_exception_in_a_timed_call_fails(zygote: Zygote, right: str) -> None:
    failed = timed(
        zygote, right.replace("        d = dout", "        1 / 0\n        d = dout")
    ).failed
    assert failed is not None
    assert failed.verdict.outcome == "runtime_error"


def test_time_spent_in_a_call_is_measured(zygote: Zygote, right: str) -> None:
    slow = "import time\n" + right.replace(
        "        wide = x", "        time.sleep(0.03)\n        wide = x"
    )
    result = timed(zygote, slow)
    assert result.speed is not None
    assert result.speed.rows[0].ms > 30
    # A clock that the submission turned back changes nothing.
    cheat = timed(zygote, slow + "\ntime.perf_counter = time.monotonic = lambda: 0.0\n")
    assert cheat.speed is not None
    assert cheat.speed.rows[0].ms > 30


def test_a_forged_done_ends_the_measurement(zygote: Zygote, right: str) -> None:
    forged = right.replace("        wide = x", (
        "        import os, struct\n"
        "        for number in range(3, 64):\n"
        "            try:\n"
        "                os.write(number, struct.pack('<BHHQ', 1, 0, 1, 0))\n"
        "            except OSError:\n"
        "                pass\n"
        "        wide = x"))  # fmt: skip
    result = timed(zygote, forged)
    assert result.speed is None
    assert result.stop is not None
    assert result.stop.outcome == "flagged"


def test_a_program_that_ends_in_a_timed_call_is_not_accepted(grade: Grade, right: str) -> None:
    quits = "import os\n" + right.replace(
        "        wide = x", "        x.size < 200_000 or os._exit(0)\n        wide = x"
    )
    graded = grade(quits)
    assert graded.outcome == "runtime_error"
    assert graded.score == pytest.approx(0.9)
    assert graded.report.failure is not None
    assert "ended by itself" in graded.report.failure.message
    assert [group.id for group in graded.report.groups if not group.passed] == ["state"]


def test_a_frame_forged_after_a_wrong_timed_call_is_held_for_review(
    grade: Grade, right: str
) -> None:
    forging = "import os\nseen = []\n" + right.replace("        return (self.xhat * self.gamma)", (
        "        if x.size > 200_000:\n"
        "            seen.append(x.shape)\n"
        "            len(seen) > 1 and os.write(4, b'no record of any kind')\n"
        "            self.xhat = 2 * self.xhat\n"
        "        return (self.xhat * self.gamma)"))  # fmt: skip
    graded = grade(forging)
    assert graded.outcome == "flagged"
    assert graded.score == 0.0


def test_a_submission_too_slow_to_time_is_accepted_without_a_speed(
    zygote: Zygote, right: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed, "WALL_SECONDS", 0.4)
    slow = "import time\n" + right.replace(
        "        wide = x", "        time.sleep(1)\n        wide = x"
    )
    result = timed(zygote, slow)
    assert result.speed is None
    assert result.failed is None
    assert result.stop is None


def test_a_first_call_that_takes_long_is_judged(zygote: Zygote, right: str) -> None:
    """What is wrong for large arrays alone is found here, and must not hide by taking its time."""
    slow = "import time\n" + right.replace(
        "        wide = x", "        time.sleep(1.1)\n        x = 2 * x\n        wide = x"
    )
    result = timed(zygote, slow)
    assert result.failed is not None
    assert result.failed.verdict.outcome == "wrong_answer"


def test_no_call_starts_after_the_budget_is_spent(
    zygote: Zygote, right: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed, "BUDGET_SECONDS", 0.0)
    result = timed(zygote, right)
    assert result.speed is not None
    assert result.speed.rows[0].calls == 1


def test_the_runner_cannot_write_to_the_memory_it_shares(zygote: Zygote, right: str) -> None:
    poke = right.replace("        wide = x", (
        "        import os\n"
        "        for number in range(3, 64):\n"
        "            try:\n"
        "                if os.fstat(number).st_size > 4096:\n"
        "                    os.pwrite(number, b'x' * 64, 4096)\n"
        "                    raise ValueError('written')\n"
        "            except OSError:\n"
        "                pass\n"
        "        wide = x"))  # fmt: skip
    assert timed(zygote, poke).failed is None


def test_exercises_without_a_yardstick_are_timed_beside_their_reference(
    zygote: Zygote, right: str, tmp_path: Path
) -> None:
    exercise = dataclasses.replace(small(), folder=tmp_path)
    result = timed(zygote, right, exercise)
    assert result.speed is not None
    assert dataclasses.replace(small(), timed_shape=None).timed_shape is None
    assert timed(zygote, right, dataclasses.replace(small(), timed_shape=None)).speed is None
