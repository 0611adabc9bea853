"""Times an accepted submission: the judge's clock, fresh input for each call, outputs checked.

Each call of the submission is timed with a copy of the same bytes and the same call of the
exercise's best plain NumPy, in random order. Speed is reported and gates nothing; but a timed
output that is wrong is a wrong answer like any other.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.cases.case import Case, ScriptBuilder
from gpu_worker.judge.cases.reference import expected_results, reference_class
from gpu_worker.judge.diagnosis.search import JudgedCase
from gpu_worker.judge.running.execution import FLAGGED_STOP, Stop, crash_stop, run_request
from gpu_worker.judge.running.shared_job import SharedJob
from gpu_worker.judge.running.timed_calls import (
    ARRAYS_MOVED,
    Sample,
    Talk,
    Timed,
    TimedTalk,
    expect,
    speed_row,
)
from gpu_worker.judge.verdict.compare import judge_case
from gpu_worker.judge.verdict.transcript import PlayedCase
from gpu_worker.messages.protocol import Speed
from gpu_worker.sandbox.client import RunResult, Zygote
from gpu_worker.sandbox.inside import wire
from gpu_worker.sandbox.inside.wire import ArrayValue, FrameKind

CALLS: Final = 5
BUDGET_SECONDS: Final = 0.25
"""No further call is begun after this time; with the last one, timing stays near half a second."""
WALL_SECONDS: Final = 5.0
"""So that the first call, which the budget always allows, is judged however slow it is. Who needs
longer for it is not timed, and is judged by the cases alone."""
Array = NDArray[Any]


def measure_speed(
    exercise: Exercise,
    source: str,
    limits: Mapping[str, float],
    zygote: Zygote,
    rng: np.random.Generator,
    modulus: str = "chunked_numpy",
) -> Timed:
    """Time a submission that passed every case; `speed` stays None where that is not possible.

    Raises:
        SandboxError: the sandbox failed.
    """
    if exercise.timed_shape is None:
        return Timed()
    talk = _Conversation(exercise, source, rng, modulus)
    with talk.job:
        bounded = {**limits, "wall_seconds": min(WALL_SECONDS, limits["wall_seconds"])}
        talk.begin()
        size = 40 * math.prod(exercise.timed_shape) * 4 * CALLS
        run = run_request(bounded, zygote, size, talk.on_frame, job_descriptor=talk.job.descriptor)
    stop = talk.reason_to_stop(run, limits)
    return Timed(talk.summary(), talk.failed(), stop, talk.case, run)


class _Conversation(TimedTalk):
    """The judge's side of the timed calls: what it does at each frame, and what it saw."""

    job: SharedJob

    def __init__(
        self, exercise: Exercise, source: str, rng: np.random.Generator, modulus: str
    ) -> None:
        assert exercise.timed_shape is not None  # noqa: S101  the caller has looked
        super().__init__()
        self.exercise = exercise
        self.shape = exercise.timed_shape
        self.rng = rng
        self.started = time.perf_counter()
        self.parameters = {
            name: rng.standard_normal(self.shape[-1]).astype(np.float32)
            for name in exercise.parameters
        }
        self.case = self._case(_zeros(self.shape), _zeros(self.shape))
        operations = self.case.script.operations
        self.places = [
            next(op.array for op in operations if op.kind == kind) for kind in ARRAYS_MOVED
        ]
        self.job = SharedJob(
            source, exercise.class_name, self.case.script, frozenset(self.places), CALLS
        )
        self.best = self._yardstick(modulus)
        self.spare = _zeros(self.shape)
        self.inputs: list[list[Array]] = []
        self.results: list[list[Array]] = []
        self.samples: dict[str, list[Sample]] = {kind: [] for kind in ARRAYS_MOVED}

    # --- the conversation ---------------------------------------------------------------------
    def _talk(self) -> Talk:
        sent = [place for place, _ in self.case.compared()]
        for number in range(CALLS):
            if number and time.perf_counter() - self.started > BUDGET_SECONDS:
                break
            arrays = [_fresh(self.rng, self.shape) for _ in self.places]
            self.inputs.append(arrays)
            self.results.append([])
            for step, (kind, array) in enumerate(zip(ARRAYS_MOVED, arrays, strict=True)):
                yield from self._one(2 * (2 * number + step), kind, step, array)
            for place in sent:
                frame, _ = yield
                expect(frame, FrameKind.ARRAY, place)
                self.results[-1].append(wire.decode_array(frame.payload))
        self.job.stop()

    def _one(self, mark: int, kind: str, step: int, array: Array) -> Talk:
        first = bool(self.rng.integers(2))
        own = self._own_times(kind, array) if first else None
        self.job.put(self.places[step], array)
        self.job.mark(mark + 1)
        frame, _ = yield
        expect(frame, FrameKind.BEGIN, 0)
        begun = time.perf_counter()
        self.job.mark(mark + 2)
        frame, ended = yield
        expect(frame, FrameKind.BEGIN, 1)
        copy, reference = own or self._own_times(kind, array)
        self.samples[kind].append(Sample(ended - begun, reference, copy))

    def _own_times(self, kind: str, array: Array) -> tuple[float, float]:
        """Time a copy of the array, and the yardstick's call on it."""
        copy = _timed(lambda: np.copyto(self.spare, array))
        return copy, _timed(lambda: getattr(self.best, kind)(array))

    # --- what it saw --------------------------------------------------------------------------
    def reason_to_stop(self, run: RunResult, limits: Mapping[str, float]) -> Stop | None:
        """Return why the program did not play the calls it was asked for, time aside."""
        if self.forged or run.forged:
            return FLAGGED_STOP
        broke_off = not self.finished and not self.problem and run.ending == "ended"
        return crash_stop(run, limits) if broke_off else None

    def failed(self) -> JudgedCase | None:
        """Return the first call whose results are wrong, or that raised."""
        for arrays, results in zip(self.inputs, self.results, strict=True):
            case = self._case(*arrays)
            played = PlayedCase(list(results), [], [], self.problem)
            if not self.problem and len(results) < len(case.compared()):
                return None
            played.inputs = [array.values for array in case.script.arrays]
            played.complete = not self.problem
            expected = expected_results(self.exercise, case)
            verdict = judge_case(case, played, expected, self.exercise.gradients)
            if not verdict.passed:
                return JudgedCase(case, played, expected, verdict)
        return None

    def summary(self) -> Speed | None:
        """Return the medians, or None if not one call came to its end with all its results."""
        judged = bool(self.results) and len(self.results[0]) == len(self.case.compared())
        if not judged or not all(self.samples.values()) or self.forged or self.problem:
            return None
        copies = [sample.copy for rows in self.samples.values() for sample in rows]
        nbytes = math.prod(self.shape) * 4
        return Speed(
            shape=list(self.shape),
            dtype="float32",
            rows=[
                speed_row(kind, rows, min(copies), nbytes) for kind, rows in self.samples.items()
            ],
        )

    def _yardstick(self, modulus: str) -> Any:
        path = self.exercise.folder / f"{modulus}.py"
        cls = (
            getattr(self.exercise.module(modulus), self.exercise.class_name)
            if path.is_file()
            else reference_class(self.exercise)
        )
        arguments = {"dim": self.shape[-1], "eps": self.exercise.default_eps}
        layer = cls(**{name: arguments[name] for name in self.exercise.constructor})
        for name, values in self.parameters.items():
            setattr(layer, name, values)
        warm = _fresh(self.rng, (8, self.shape[-1]))
        for kind in ARRAYS_MOVED:
            getattr(layer, kind)(warm)
        return layer

    def _case(self, x: Array, dout: Array) -> Case:
        checks = frozenset({"y", "dx", *self.exercise.gradients})
        script = ScriptBuilder(self.exercise, checks)
        constructor = self.exercise.constructor
        eps = self.exercise.default_eps if "eps" in constructor else None
        script.new(0, self.shape[-1] if "dim" in constructor else 0, eps, self.parameters)
        script.forward(0, ArrayValue(x, "contiguous", x.shape))
        script.backward(0, ArrayValue(dout, "contiguous", dout.shape))
        return Case(
            group=self.exercise.groups[-1].id,
            family="timed call",
            dtype=np.dtype(np.float32),
            layout="contiguous",
            eps=eps,
            shape=self.shape,
            checks=checks,
            script=script.build(resend=False),
        )


def _fresh(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Return numbers between -2 and 2: the quickest to draw that are new each time."""
    values = rng.random(shape, dtype=np.float32)
    values -= np.float32(0.5)
    values *= np.float32(4)
    return values


def _zeros(shape: tuple[int, ...]) -> Array:
    return np.zeros(shape, np.float32)


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun
