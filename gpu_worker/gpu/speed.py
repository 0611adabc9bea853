"""Times an accepted submission on a device: the judge's clock, fresh inputs, every result checked.

The referee, the judge's own process on the device, draws each input into memory that it shares with
the runner. The runner copies it to the device and says so; the referee empties the caches; then the
judge says go, and its clock runs until the runner says that the device has finished. Between the
calls the referee times a copy of the same bytes and the reference, in random order. The round trip
of a message is measured on the referee, which no learner can slow down, and subtracted.

The submission runs in the learner's own process, so it could do work before "go". The gain is
bounded: a time shorter than a copy of the least bytes is refused, and no time counts for more.
**Not yet run on a device.**
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from gpu_worker.exercises.registry import Exercise
from gpu_worker.gpu.examination import Facts
from gpu_worker.gpu.inventory import Gpu
from gpu_worker.gpu.job import DeviceJob, announced
from gpu_worker.gpu.referee import Errand, Placed, Worst
from gpu_worker.gpu.referee_client import RefereeProcess
from gpu_worker.gpu.timing_plan import Plan, huge_plan, timing_plan
from gpu_worker.gpu.warming import warmed
from gpu_worker.judge.cases.case import Case, ScriptBuilder, quantity_of
from gpu_worker.judge.diagnosis.search import JudgedCase
from gpu_worker.judge.running.execution import FLAGGED_STOP, Stop, crash_stop, run_request
from gpu_worker.judge.running.timed_calls import Sample, Talk, Timed, TimedTalk, expect, speed_row
from gpu_worker.judge.verdict.compare import CaseVerdict, Deviation, judge_case
from gpu_worker.judge.verdict.transcript import PlayedCase
from gpu_worker.messages.protocol import Outcome, Speed
from gpu_worker.sandbox.client import RunResult, Zygote
from gpu_worker.sandbox.inside.wire import Frame, FrameKind, WireError, decode_head

BUDGET_SECONDS: Final = 6.0
"""No further call is begun after this time."""
WALL_SECONDS: Final = 12.0
RESULT_BYTES: Final = 1 << 20
"""Frames only: results come in the job's memory."""
SHORTEST_SECONDS: Final = 1e-9
_REFERENCES: Final = {
    "fused_cupy": "the fused reference kernels",
    "reference_cupy": "the reference of array expressions",
}


def measure_on_device(
    gpu: Gpu,
    facts: Facts,
    exercise: Exercise,
    source: str,
    limits: Mapping[str, float],
    zygote: Zygote,
    rng: np.random.Generator,
) -> Timed:
    """Check a submission on more than 2**31 elements where they fit, then time it.

    Raises:
        SandboxError: the sandbox or the referee failed.
    """
    kernels = warmed(facts)
    if huge := huge_plan(exercise, facts):
        found = play_plan(gpu, exercise, source, limits, zygote, rng, huge, kernels)
        if found.failed or found.stop:
            return Timed(failed=found.failed, stop=found.stop, case=found.case, run=found.run)
    plan = timing_plan(exercise, facts)
    return play_plan(gpu, exercise, source, limits, zygote, rng, plan, kernels) if plan else Timed()


def play_plan(
    gpu: Gpu,
    exercise: Exercise,
    source: str,
    limits: Mapping[str, float],
    zygote: Zygote,
    rng: np.random.Generator,
    plan: Plan,
    kernels: str = "",
    modulus: str = "",
) -> Timed:
    """Play the calls of a plan on a submission. `modulus` names another reference to time.

    `kernels` is the folder of kernels compiled ahead, empty for none.

    Raises:
        SandboxError: the sandbox or the referee failed.
    """
    talk = Conversation(exercise, source, rng, plan, modulus)
    with talk.job, RefereeProcess(gpu, talk.job.descriptor, talk.errand, kernels) as talk.referee:
        talk.begin()
        bounded = {**limits, "wall_seconds": WALL_SECONDS, "cpu_seconds": WALL_SECONDS}
        run = run_request(
            bounded,
            zygote,
            RESULT_BYTES,
            talk.on_frame,
            job_descriptor=talk.job.descriptor,
            job_writable=True,
        )
    return Timed(talk.summary(), talk.failed(), talk.reason_to_stop(run, limits), talk.case, run)


class Conversation(TimedTalk):
    """The judge's side of the calls: what it does at each frame, and what it saw."""

    referee: Any
    job: DeviceJob

    def __init__(
        self,
        exercise: Exercise,
        source: str,
        rng: np.random.Generator,
        plan: Plan,
        modulus: str = "",
    ) -> None:
        super().__init__()
        self.exercise, self.plan, self.rng = exercise, plan, rng
        self._modulus = modulus or _best(exercise)
        self.parameters = {
            name: rng.uniform(-1.5, 1.5, plan.shape[-1]).astype(plan.dtype)
            for name in exercise.parameters
        }
        self.case = self._case()
        operations = self.case.script.operations
        self.places = {
            kind: next(op.array for op in operations if op.kind == kind) for kind in plan.directions
        }
        self.quantities = [quantity_of(operation) for _, operation in self.case.compared()]
        self.job = DeviceJob(
            source,
            exercise.class_name,
            self.case.script,
            list(self.places.values()),
            [(plan.dtype, self._shape_of(name)) for name in self.quantities],
            plan.calls,
        )
        self.errand = self._errand()
        self.samples: dict[str, list[Sample]] = {kind: [] for kind in plan.directions}
        self.wrong: tuple[str, Worst | None] | None = None
        self._started = 0.0
        self._round_trip = 0.0

    # --- the conversation ---------------------------------------------------------------------
    def begin(self) -> None:
        """Offer the first array."""
        self._round_trip = self.referee.round_trip()
        # Only now, since the referee has waited for the driver to come up.
        self._started = time.perf_counter()
        super().begin()

    def _talk(self) -> Talk:
        step = 0
        for number in range(self.plan.calls):
            if number and time.perf_counter() - self._started > BUDGET_SECONDS:
                break
            for direction in self.plan.directions:
                yield from self._one(step, direction)
                step += 1
            frame, _ = yield
            expect(frame, FrameKind.BEGIN, 2)
            self._check(frame)
            if self.wrong:
                break
        self.job.stop()

    def _one(self, step: int, direction: str) -> Talk:
        referee = self.referee
        referee.draw(direction)
        first = bool(self.rng.integers(2)) and self.plan.is_timed
        own = referee.own(direction) if first else None
        self.job.mark(2 * step + 1)
        frame, _ = yield
        expect(frame, FrameKind.BEGIN, 0)
        # Now, since the input has just passed through the caches.
        referee.flush()
        begun = time.perf_counter()
        self.job.mark(2 * step + 2)
        frame, ended = yield
        expect(frame, FrameKind.BEGIN, 1)
        if self.plan.is_timed:
            copy, reference = own or referee.own(direction)
            took = max(ended - begun - self._round_trip, SHORTEST_SECONDS)
            self.samples[direction].append(Sample(took, reference, copy))

    def _check(self, frame: Frame) -> None:
        """Compare what a call put into the memory, once it has the dtypes and shapes it must."""
        heads = _read_heads(frame.payload)
        if len(heads) != len(self.quantities):
            raise WireError("heads of other results than those that are asked for")
        for name, (dtype, shape) in zip(self.quantities, heads, strict=True):
            wanted = self._shape_of(name)
            if (dtype, shape) != (self.plan.dtype, wanted):
                text = (
                    f"{name} has dtype {dtype.name} and shape {shape}, but it must have "
                    f"{self.plan.dtype.name} and {wanted}."
                )
                self.wrong = (text, None)
                return
        for worst in self.referee.check():
            if worst.units is None or worst.units > worst.limit:
                self.wrong = (f"{worst.quantity} is outside the tolerance.", worst)
                return

    # --- what it saw --------------------------------------------------------------------------
    def reason_to_stop(self, run: RunResult, limits: Mapping[str, float]) -> Stop | None:
        """Return why the program did not play the calls it was asked for, time aside."""
        if self.forged or run.forged:
            return FLAGGED_STOP
        broke_off = not (self.finished or self.problem or self.wrong) and run.ending == "ended"
        return crash_stop(run, limits) if broke_off else None

    def failed(self) -> JudgedCase | None:
        """Return the call whose results are wrong, or that raised; None for none."""
        if self.wrong is None and self.problem is None:
            return None
        if self.wrong is None:
            played = PlayedCase(problem=self.problem)
            verdict = judge_case(self.case, played, [], self.exercise.gradients)
        else:
            text, worst = self.wrong
            outcome = Outcome.WRONG_ANSWER if worst else Outcome.CONTRACT_ERROR
            verdict = CaseVerdict(False, outcome, text, self._deviation(worst))
        return JudgedCase(self.case, PlayedCase(problem=self.problem), [], verdict)

    def _deviation(self, worst: Worst | None) -> Deviation | None:
        if worst is None:
            return None
        units = math.inf if worst.units is None else worst.units
        return Deviation(
            quantity=worst.quantity,
            index=tuple(worst.index),
            expected=worst.expected,
            got=float(worst.got),
            units=units,
            limit=worst.limit,
            dtype=self.plan.dtype,
            errors=np.array([units]),
        )

    def summary(self) -> Speed | None:
        """Return the medians, or None if not one call of each direction came to its end."""
        if not all(self.samples.values()) or self.forged or self.problem or self.wrong:
            return None
        copies = [sample.copy for rows in self.samples.values() for sample in rows]
        nbytes = self.plan.nbytes
        rows = [speed_row(kind, rows, min(copies), nbytes) for kind, rows in self.samples.items()]
        return Speed(
            shape=list(self.plan.shape),
            dtype=self.plan.dtype.name,
            reference=_REFERENCES[self._modulus],
            rows=rows,
        )

    # --- the case -----------------------------------------------------------------------------
    def _shape_of(self, quantity: str) -> tuple[int, ...]:
        return self.plan.shape if quantity in ("y", "dx") else self.plan.shape[-1:]

    def _case(self) -> Case:
        exercise, plan = self.exercise, self.plan
        backward = "backward" in plan.directions
        checks = frozenset({"y", "dx", *exercise.gradients} if backward else {"y"})
        script = ScriptBuilder(exercise, checks)
        dim = plan.shape[-1] if "dim" in exercise.constructor else 0
        eps = exercise.default_eps if "eps" in exercise.constructor else None
        script.new(0, dim, eps, self.parameters)
        script.forward(0, announced(plan.dtype, plan.shape))
        if backward:
            script.backward(0, announced(plan.dtype, plan.shape))
        return Case(
            group=exercise.case_groups[-1].id,
            family=plan.family,
            dtype=plan.dtype,
            layout="contiguous",
            eps=eps,
            shape=plan.shape,
            checks=checks,
            script=script.build(resend=False),
        )

    def _errand(self) -> Errand:
        exercise, plan = self.exercise, self.plan
        return Errand(
            exercise=exercise.slug,
            modulus=self._modulus,
            expected="reference_cupy",
            dtype=plan.dtype.name,
            rows=plan.shape[0],
            dim=plan.shape[1],
            eps=exercise.default_eps,
            parameters={
                name: [float(value) for value in values] for name, values in self.parameters.items()
            },
            inputs={kind: self.job.inputs[index].place for kind, index in self.places.items()},
            results=[
                Placed(quantity=name, place=room.place)
                for name, room in zip(self.quantities, self.job.results, strict=True)
            ],
            seed=int(self.rng.integers(1 << 62)),
        )


def _best(exercise: Exercise) -> str:
    """Return the module of the fastest reference that an exercise has for a device."""
    fused = exercise.folder / "fused_cupy.py"
    return fused.stem if fused.is_file() else "reference_cupy"


def _read_heads(payload: bytes) -> list[tuple[np.dtype[Any], tuple[int, ...]]]:
    """Return dtypes and shapes of a call's results.

    Raises:
        WireError: they are malformed.
    """
    found, offset = [], 0
    while offset < len(payload):
        size = int.from_bytes(payload[offset : offset + 4], "little")
        dtype, shape, length = decode_head(payload[offset + 4 : offset + 4 + size])
        if length != size:
            raise WireError("a head of a wrong length")
        found.append((dtype, shape))
        offset += 4 + size
    return found
