"""Case plans that every normalization over the last axis shares.

Each tuple below is one group's cases. An exercise's `cases.py` puts them together and adds its
own. Sizes are small on purpose: all cases of a grading together stay near a megabyte, so that
plain loops finish and a good submission is graded in a fraction of a second.
"""

from __future__ import annotations

from typing import Final

from gpu_worker.exercises.spec import CasePlan

FORWARD: Final = (
    CasePlan("forward", "normal", "matrix", "float32", checks=("y",)),
    CasePlan("forward", "normal", "matrix", "float64", checks=("y",)),
    CasePlan("forward", "normal", "odd", "any", checks=("y",)),
    CasePlan("forward", "uniform", "thousand", "wide", checks=("y",)),
    CasePlan("forward", "mean-three", "matrix", "wide", checks=("y",)),
    CasePlan("forward", "outlier", "matrix", "wide", checks=("y",)),
    CasePlan("forward", "mixed-scales", "matrix", "wide", checks=("y",)),
    CasePlan("forward", "alternating", "wide", "float32", checks=("y",)),
    CasePlan("forward", "normal", "few-columns", "wide", parameters="signs-zeros", checks=("y",)),
)

GRADIENT_X: Final = (
    CasePlan("gradient-x", "normal", "matrix", "float32", checks=("dx",)),
    CasePlan("gradient-x", "normal", "matrix", "float64", checks=("dx",)),
    CasePlan("gradient-x", "normal", "odd", "any", checks=("dx",)),
    CasePlan("gradient-x", "uniform", "thousand", "wide", checks=("dx",)),
    CasePlan("gradient-x", "mean-three", "few-columns", "wide", checks=("dx",)),
    CasePlan("gradient-x", "outlier", "matrix", "wide", dout="one-hot", checks=("dx",)),
    CasePlan("gradient-x", "mixed-scales", "matrix", "wide", checks=("dx",)),
    CasePlan("gradient-x", "normal", "matrix", "wide", dout="along-xhat", checks=("dx",)),
    CasePlan("gradient-x", "normal", "wide", "float32", parameters="signs-zeros", checks=("dx",)),
)

SHAPES: Final = (
    CasePlan("shapes", "normal", "vector", "wide"),
    CasePlan("shapes", "normal", "cube", "wide"),
    CasePlan("shapes", "normal", "four", "any"),
    CasePlan("shapes", "normal", "single-column", "wide"),
    CasePlan("shapes", "normal", "one-row", "wide"),
    CasePlan("shapes", "normal", "empty", "any"),
    CasePlan("shapes", "normal", "cube", "wide", layout="transposed"),
    CasePlan("shapes", "normal", "matrix", "wide", layout="strided"),
    CasePlan("shapes", "normal", "odd", "wide", layout="reversed"),
    CasePlan("shapes", "normal", "four", "wide", layout="fortran"),
    CasePlan("shapes", "normal", "cube", "wide", dout="broadcast"),
    CasePlan("shapes", "normal", "very-wide", "float32"),
)

PRECISION: Final = (
    CasePlan("precision", "normal", "matrix", "float16"),
    CasePlan("precision", "large", "thousand", "float16", eps=1e-6),
    CasePlan("precision", "huge", "matrix", "float16", eps=1e-6),
    CasePlan("precision", "zero-rows", "matrix", "float16", eps=1e-8, checks=("y",)),
    CasePlan("precision", "zero-rows", "matrix", "wide", eps="positive"),
    CasePlan("precision", "constant-rows", "matrix", "wide", eps="moderate"),
    CasePlan("precision", "small", "matrix", "float32", eps=1e-6),
    CasePlan("precision", "small", "matrix", "float64", eps="positive"),
    CasePlan("precision", "micro", "matrix", "wide", eps="positive"),
    CasePlan("precision", "tiny", "matrix", "wide", eps="positive"),
    CasePlan("precision", "subnormal", "matrix", "any", eps="moderate", checks=("y",)),
    CasePlan("precision", "large", "matrix", "wide"),
    CasePlan("precision", "normal", "matrix", "wide", eps=0.0),
    CasePlan("precision", "bad-rows", "matrix", "wide", checks=("y", "dx")),
)

STATE: Final = (
    CasePlan("state", "normal", "few-columns", "wide", sequence="two-forwards"),
    CasePlan("state", "normal", "few-columns", "wide", sequence="interleaved"),
    CasePlan("state", "normal", "few-columns", "wide", sequence="small-large-small"),
    CasePlan("state", "normal", "few-columns", "wide", sequence="three-times"),
)


def parameter_gradients(gradients: tuple[str, ...]) -> tuple[CasePlan, ...]:
    """Return the plans that check the gradients of the parameters, for example ("dgamma",)."""
    group = "gradient-gamma"
    return (
        CasePlan(group, "normal", "matrix", "float32", checks=gradients),
        CasePlan(group, "normal", "matrix", "float64", checks=gradients),
        CasePlan(group, "mean-three", "tall", "float32", checks=gradients),
        CasePlan(group, "uniform", "tall", "float64", checks=gradients),
        CasePlan(group, "normal", "cube", "wide", checks=gradients),
        CasePlan(group, "outlier", "four", "wide", checks=gradients),
        CasePlan(group, "normal", "matrix", "wide", dout="along-xhat", checks=gradients),
    )
