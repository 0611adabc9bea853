"""Draws the concrete cases of one grading from an exercise's plans."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_worker.exercises.registry import Exercise
from gpu_worker.exercises.spec import CasePlan, PublicCase
from gpu_worker.judge import families
from gpu_worker.judge.case import Case, ScriptBuilder
from gpu_worker.judge.reference import reference_class
from gpu_worker.sandbox.inside.wire import ArrayValue

Array = NDArray[Any]

_DTYPES = {
    "any": ("float16", "float32", "float64"),
    "wide": ("float32", "float64"),
}
_REPEATS = 3


def new_seed() -> int:
    """Return 128 bits from the operating system; nothing about a submission enters."""
    return secrets.randbits(128)


def public_cases(exercise: Exercise) -> list[Case]:
    """Return the exercise's fixed, documented cases."""
    return [_public_case(exercise, public) for public in exercise.public_cases]


def hidden_cases(exercise: Exercise, seed: int) -> list[Case]:
    """Return one case per plan, all numbers drawn from `seed`."""
    draw = np.random.default_rng(seed)
    return [CaseDrawer(exercise, plan, draw).draw() for plan in exercise.plans]


def _public_case(exercise: Exercise, public: PublicCase) -> Case:
    dtype = np.dtype(public.dtype)
    x, dout = np.array(public.x, dtype), np.array(public.dout, dtype)
    parameters = {name: np.array(values, dtype) for name, values in public.parameters.items()}
    checks = frozenset({"y", "dx", *exercise.gradients})
    script = ScriptBuilder(checks, exercise.gradients)
    script.new(0, x.shape[-1], public.eps, parameters, by_name=not parameters)
    script.forward(0, _contiguous(x))
    script.backward(0, _contiguous(dout))
    return Case(
        group="public",
        family=public.id,
        dtype=dtype,
        layout="contiguous",
        eps=public.eps,
        shape=x.shape,
        checks=checks,
        script=script.build(resend=True),
        public=True,
        own_parameters=not parameters,
    )


class CaseDrawer:
    """Draws one case of a plan."""

    def __init__(self, exercise: Exercise, plan: CasePlan, draw: np.random.Generator) -> None:
        self.exercise = exercise
        self.plan = plan
        self.rng = draw
        self.dtype = np.dtype(str(draw.choice(_DTYPES.get(plan.dtype, (plan.dtype,)))))
        self.eps = families.draw_eps(plan.eps, draw)
        self.shape = families.draw_shape(plan.shape, draw)
        every = {"y", "dx", *exercise.gradients}
        self.checks = frozenset(every if plan.checks == ("all",) else plan.checks)
        self.script = ScriptBuilder(self.checks, exercise.gradients)

    def draw(self) -> Case:
        """Return the case."""
        x = self.x(self.shape)
        sequences: dict[str, Callable[[Array], None]] = {
            "once": self.once,
            "two-forwards": self.two_forwards,
            "interleaved": self.interleaved,
            "small-large-small": self.small_large_small,
            "three-times": self.three_times,
        }
        sequences[self.plan.sequence](x)
        bad = ~np.isfinite(x).all(axis=-1)
        return Case(
            group=self.plan.group,
            family=self.plan.family,
            dtype=self.dtype,
            layout=self.plan.layout if self.plan.sequence == "once" else self.plan.sequence,
            eps=self.eps,
            shape=self.shape,
            checks=self.checks,
            script=self.script.build(resend=self.plan.group == "state"),
            bad_rows=np.array(bad) if bad.any() else None,
            repeats=_REPEATS if self.plan.sequence == "three-times" else 1,
        )

    # --- sequences of calls -------------------------------------------------------------------
    def once(self, x: Array) -> None:
        """forward, backward."""
        self.new(0)
        self.script.forward(0, self.laid_out(x))
        self.script.backward(0, self.dout(x))

    def two_forwards(self, x: Array) -> None:
        """forward(a), forward(b), backward: the gradient belongs to b."""
        other = self.x((self.shape[0] + 2, *self.shape[1:]))
        self.new(0)
        self.script.forward(0, _contiguous(other))
        self.script.forward(0, _contiguous(x))
        self.script.backward(0, self.dout(x))

    def interleaved(self, x: Array) -> None:
        """Two instances with parameters of their own, their calls in turn."""
        other = self.x(self.shape)
        self.new(0)
        self.new(1)
        self.script.forward(0, _contiguous(x))
        self.script.forward(1, _contiguous(other))
        self.script.backward(0, self.dout(x))
        self.script.backward(1, self.dout(other))

    def small_large_small(self, x: Array) -> None:
        """One instance, batches of different sizes."""
        self.new(0)
        for rows in (3, 40, 2):
            batch = self.x((rows, *self.shape[1:]))
            self.script.forward(0, _contiguous(batch))
            self.script.backward(0, self.dout(batch))

    def three_times(self, x: Array) -> None:
        """The same calls three times: the results must agree bit for bit."""
        dout = self.dout(x)
        self.new(0)
        for _ in range(_REPEATS):
            self.script.forward(0, _contiguous(x))
            self.script.backward(0, dout)

    # --- values -------------------------------------------------------------------------------
    def x(self, shape: tuple[int, ...]) -> Array:
        """Draw x, rounded to the case's dtype."""
        return families.draw_x(self.plan.family, self.rng, shape, self.dtype).astype(self.dtype)

    def new(self, instance: int) -> None:
        """Make an instance with parameters of its own."""
        dim = self.shape[-1]
        parameters = {
            name: families.draw_parameter(self.plan.parameters, self.rng, dim).astype(self.dtype)
            for name in self.exercise.parameters
        }
        self.script.new(instance, dim, self.eps, parameters)

    def laid_out(self, values: Array) -> ArrayValue:
        """Ask for the plan's memory layout."""
        return ArrayValue(values, self.plan.layout, values.shape)

    def dout(self, x: Array) -> ArrayValue:
        """Draw dout for x, in the plan's layout or broadcast."""

        def xhat() -> families.Floats:
            # A fresh instance has gamma 1 and beta 0, so that its output is the normalized x.
            layer = reference_class(self.exercise)(x.shape[-1], self.eps)
            normalized: families.Floats = layer.forward(x.astype(np.float64))
            return normalized

        dout = families.draw_dout(self.plan.dout, self.rng, x.shape, xhat).astype(self.dtype)
        if self.plan.dout == "broadcast":
            return ArrayValue(dout, "broadcast", x.shape)
        return self.laid_out(dout) if self.plan.sequence == "once" else _contiguous(dout)


def _contiguous(values: Array) -> ArrayValue:
    return ArrayValue(values, "contiguous", values.shape)
