"""Times an accepted submission: the judge's clock, fresh input for each call, outputs checked.

Each call of the submission stands between a copy of the same bytes and the same call of the best
plain NumPy that the exercise has, in random order. Speed is reported and gates nothing; but a
timed output that is wrong is a wrong answer like any other.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.case import Case, ScriptBuilder
from gpu_worker.judge.compare import judge_case
from gpu_worker.judge.diagnosis import JudgedCase
from gpu_worker.judge.execution import FLAGGED_STOP, Stop, crash_stop, run_request
from gpu_worker.judge.reference import expected_results, reference_class
from gpu_worker.judge.shared_job import SharedJob
from gpu_worker.judge.transcript import PlayedCase, Raised, Refused, problem_of
from gpu_worker.protocol import Speed, SpeedRow
from gpu_worker.sandbox.client import RunResult, Zygote
from gpu_worker.sandbox.inside import wire
from gpu_worker.sandbox.inside.wire import ArrayValue, Frame, Kind, WireError

CALLS: Final = 5
BUDGET_SECONDS: Final = 0.25
"""No further call is begun after this time; with the last one, timing stays near half a second."""
WALL_SECONDS: Final = 5.0
"""So that the first call, which the budget always allows, is judged however slow it is. Who needs
longer for it is not timed, and is judged by the cases alone."""
FASTEST_SHARE: Final = 1.05
"""A time below that of a copy by more than this factor is impossible."""
ARRAYS_MOVED: Final[Mapping[str, int]] = {"forward": 2, "backward": 3}
"""How many arrays of x's size each direction must at least read or write."""

Array = NDArray[Any]


@dataclass(slots=True)
class Sample:
    """One call's times in seconds."""

    submission: float
    reference: float
    copy: float


@dataclass(slots=True)
class Timed:
    """What timing gave: the message, the first call that was wrong, and why it broke off.

    Too slow to be timed is no reason to break off: then `speed` is None, and nothing else.
    """

    speed: Speed | None = None
    failed: JudgedCase | None = None
    stop: Stop | None = None
    case: Case | None = None
    run: RunResult = field(default_factory=RunResult)


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


class _Conversation:
    """The judge's side of the timed calls: what it does at each frame, and what it saw."""

    def __init__(
        self, exercise: Exercise, source: str, rng: np.random.Generator, modulus: str
    ) -> None:
        assert exercise.timed_shape is not None  # noqa: S101  the caller has looked
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
        self.problem: Raised | Refused | None = None
        self.forged = ""
        self.finished = False
        self._state = self._talk()
        self._go = 0.0

    # --- the conversation ---------------------------------------------------------------------
    def begin(self) -> None:
        """Offer the first array."""
        next(self._state)

    def on_frame(self, frame: Frame) -> None:
        """Take a frame, with the time at which it came, and let the runner go on."""
        now = time.perf_counter()
        if self.forged or frame.kind is Kind.END:
            return
        if frame.kind in (Kind.RAISED, Kind.REFUSED):
            self.problem = problem_of(frame)
            return
        try:
            self._state.send((frame, now))
        except StopIteration:
            self.finished = True
        except WireError as error:
            self.forged = str(error)
            self.job.stop()

    def _talk(self) -> Any:
        """One call after the other; takes (frame, time), raises WireError at a wrong one."""
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
                _expect(frame, Kind.ARRAY, place)
                self.results[-1].append(wire.decode_array(frame.payload))
        self.job.stop()

    def _one(self, mark: int, kind: str, step: int, array: Array) -> Any:
        first = bool(self.rng.integers(2))
        own = self._own_times(kind, array) if first else None
        self.job.put(self.places[step], array)
        self.job.mark(mark + 1)
        frame, _ = yield
        _expect(frame, Kind.BEGIN, 0)
        begun = time.perf_counter()
        self.job.mark(mark + 2)
        frame, ended = yield
        _expect(frame, Kind.BEGIN, 1)
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
        rows = [self._row(kind, rows, min(copies)) for kind, rows in self.samples.items()]
        return Speed(shape=list(self.shape), dtype="float32", rows=rows)

    def _row(self, kind: str, samples: list[Sample], best_copy: float) -> SpeedRow:
        size = math.prod(self.shape) * 4
        # A copy reads and writes: two arrays.
        share = ARRAYS_MOVED[kind] / 2
        times = [sample.submission for sample in samples]
        of_copy = [share * sample.copy / sample.submission for sample in samples]
        to_best = [sample.submission / sample.reference for sample in samples]
        impossible = min(times) * FASTEST_SHARE < share * best_copy
        return SpeedRow(
            direction=kind,
            calls=len(samples),
            ms=_median(times) * 1e3,
            spread_ms=_spread(times) * 1e3,
            reference_ms=_median([sample.reference for sample in samples]) * 1e3,
            copy_ms=_median([sample.copy for sample in samples]) * 1e3,
            megabytes=ARRAYS_MOVED[kind] * size / 1e6,
            copy_fraction=0.0 if impossible else _median(of_copy),
            copy_fraction_spread=_spread(of_copy),
            times_reference=_median(to_best),
            times_reference_spread=_spread(to_best),
            refused=_IMPOSSIBLE if impossible else "",
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
        script = ScriptBuilder(checks, self.exercise.gradients)
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


_IMPOSSIBLE: Final = (
    "This time is shorter than moving the bytes takes, so it cannot be right and is not counted."
)


def _expect(frame: Frame, kind: Kind, position: int) -> None:
    if (frame.kind, frame.position) != (kind, position):
        raise WireError(f"a frame {frame.kind.name} where {kind.name} belongs")


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


def _median(values: list[float]) -> float:
    return statistics.median(values)


def _spread(values: list[float]) -> float:
    """Half the distance between the quartiles; of fewer than four values, between the extremes."""
    if len(values) < 4:
        return (max(values) - min(values)) / 2
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / 2
