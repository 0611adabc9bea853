"""Draws the inputs of a case from its plan: dtype, shape, eps and arrays."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpu_worker.exercises.registry import Exercise
from gpu_worker.exercises.spec import CasePlan
from gpu_worker.judge.cases import dtypes, families
from gpu_worker.judge.cases.case import ScriptBuilder
from gpu_worker.judge.cases.reference import make_reference
from gpu_worker.sandbox.inside.wire import ArrayValue

Array = NDArray[Any]

_DTYPES: Final = {
    "any": ("float16", "float32", "float64"),
    "any-kernel": ("bfloat16", "float16", "float32", "float64"),
    "wide": ("float32", "float64"),
}
_DRAWN: Final = {"drawn": families.DRAWN, "drawn-long": families.DRAWN_LONG}


class NumberDrawer:
    """Draws the arrays of one case of a plan, and makes its instances."""

    def __init__(
        self,
        exercise: Exercise,
        plan: CasePlan,
        draw: np.random.Generator,
        *,
        by_name: bool = False,
    ) -> None:
        self.exercise = exercise
        self.by_name = by_name
        self.plan = plan = settled(plan, draw)
        self.rng = draw
        self.dtypes = _DTYPES.get(plan.dtype, (plan.dtype,))
        self.dtype = dtypes.named(families.one_of(self.dtypes, draw))
        self.eps = families.draw_eps(plan.eps, draw) if "eps" in exercise.constructor else None
        self.shape = families.draw_shape(plan.shape, draw)
        self.checks = frozenset(exercise.results if plan.checks == ("all",) else plan.checks)
        self.script = ScriptBuilder(exercise, self.checks)

    def x(self, shape: tuple[int, ...], dtype: np.dtype[Any] | None = None) -> Array:
        """Draw x, rounded to the case's dtype or another."""
        dtype = dtype or self.dtype
        return families.draw_x(self.plan.family, self.rng, shape, dtype).astype(dtype)

    def other_dtypes(self) -> list[np.dtype[Any]]:
        """Return the dtypes that the plan names, but for the case's."""
        return [dtypes.named(name) for name in self.dtypes if name != self.dtype.name]

    def other_dtype(self) -> np.dtype[Any]:
        """Draw a dtype that is not the case's, where the plan names one."""
        others = self.other_dtypes()
        return others[int(self.rng.integers(len(others)))] if others else self.dtype

    def nearly(self, values: Array) -> Array:
        """Return a copy in which one to three elements are others, far from what they were."""
        near = values.copy()
        count = int(self.rng.integers(1, 4))
        for flat in self.rng.choice(values.size, count, replace=False):
            index = np.unravel_index(flat, values.shape)
            near[index] = -values[index] + self.dtype.type(2.0 * families.sign(self.rng))
        return near

    def parameters(self, like: Array | None = None) -> dict[str, Array]:
        """Draw a value for each parameter; none where the class gives them their values.

        They have the dtype and the D of x, or of the array `like`.
        """
        if self.plan.parameters == "as-made":
            return {}
        dim, dtype = (self.shape[-1], self.dtype) if like is None else (like.shape[-1], like.dtype)
        bound = families.HALF_GAMMA if dtypes.is_half(dtype) else np.inf
        return {
            name: families.draw_parameter(self.plan.parameters, self.rng, dim)
            .clip(-bound, bound)
            .astype(dtype)
            for name in self.exercise.parameters
        }

    def new(
        self,
        instance: int,
        eps: float | None = None,
        like: Array | None = None,
        parameters: dict[str, Array] | None = None,
    ) -> None:
        """Make an instance with parameters of its own or those given, with the case's eps or one.

        It is for x of the case's shape and dtype, or of those of `like`.
        """
        dim = (self.shape if like is None else like.shape)[-1]
        self.script.new(
            instance,
            dim if "dim" in self.exercise.constructor else 0,
            self.eps if eps is None else eps,
            self.parameters(like) if parameters is None else parameters,
            by_name=self.by_name,
        )

    def dout(self, x: Array) -> ArrayValue:
        """Draw dout for x, with its dtype, in the plan's layout or broadcast."""

        def xhat() -> families.Floats:
            # A fresh instance has gamma 1 and beta 0, so that its output is the normalized x.
            layer = make_reference(self.exercise, x.shape[-1], self.eps)
            normalized: families.Floats = layer.forward(x.astype(np.float64))
            return normalized

        drawn = families.draw_dout(self.plan.dout, self.rng, x.shape, x.dtype, xhat)
        dout = drawn.astype(x.dtype)
        if self.plan.dout == "broadcast":
            return ArrayValue(dout, "broadcast", x.shape)
        layout = self.plan.dout_layout or self.plan.layout
        return ArrayValue(dout, layout if self.plan.sequence == "once" else "contiguous", x.shape)


def settled(plan: CasePlan, draw: np.random.Generator) -> CasePlan:
    """Return the plan with a family and a layout in place of the word "drawn"."""
    family, layout = plan.family, plan.layout
    if family in _DRAWN:
        family = families.one_of(_DRAWN[family], draw)
    if layout == "drawn":
        layout = families.one_of(families.LAYOUTS, draw)
    return dataclasses.replace(plan, family=family, layout=layout)
