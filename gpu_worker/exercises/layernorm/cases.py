"""What is tested of LayerNorm: groups with their weights, the public cases, the hidden plans."""

from __future__ import annotations

from typing import Final

from gpu_worker.exercises import row_plans
from gpu_worker.exercises.spec import CasePlan, Group, PublicCase

GROUPS: Final = (
    Group("public", "Public examples", 0.10),
    Group("forward", "Forward pass", 0.20),
    Group("gradient-x", "Gradient for x", 0.25),
    Group("gradient-gamma", "Gradients for gamma and beta", 0.15),
    Group("shapes", "One to four dimensions, odd sizes, memory layouts", 0.10),
    Group("precision", "Half precision, tiny and large values, eps", 0.10),
    Group("state", "Repeated calls and several instances", 0.10),
)

PUBLIC_CASES: Final = (
    PublicCase(
        id="chapter-example",
        title="One row, gamma and beta as the class makes them, default eps",
        dtype="float64",
        x=[[1.0, 2.0, 3.0, 4.0]],
        dout=[[1.0, -1.0, 0.5, 2.0]],
    ),
    PublicCase(
        id="gamma-and-beta",
        title="Two rows with a gamma, a beta and a dout that are not all ones",
        dtype="float32",
        eps=1e-5,
        x=[[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]],
        dout=[[1.0, -0.5, 0.25], [-2.0, 0.75, 1.5]],
        parameters={"gamma": [0.5, -1.0, 2.0], "beta": [0.25, 0.5, -1.0]},
    ),
    PublicCase(
        id="three-dimensions",
        title="Two sequences of two tokens: dgamma and dbeta are summed over both leading axes",
        dtype="float32",
        eps=1e-6,
        x=[[[1.0, -2.0, 0.5], [0.0, 0.25, -1.0]], [[4.0, 3.0, -2.0], [0.1, 0.2, 0.3]]],
        dout=[[[0.5, 1.0, -1.0], [2.0, 0.0, 1.0]], [[-0.5, 0.25, 0.75], [1.0, -1.0, 0.5]]],
        parameters={"gamma": [1.5, 0.5, -0.5], "beta": [0.0, 1.0, 2.0]},
    ),
    PublicCase(
        id="half-precision",
        title="float16 values whose squares do not fit into float16, in a single row",
        dtype="float16",
        eps=1e-6,
        x=[300.0, -400.0, 500.0, 100.0],
        dout=[1.0, 0.5, -1.0, 2.0],
        parameters={"gamma": [1.0, 0.5, 2.0, -1.0], "beta": [0.5, 0.0, -0.5, 1.0]},
    ),
)

PLANS: Final = (
    *row_plans.FORWARD,
    CasePlan("forward", "mean-three", "odd", "float16", checks=("y",)),
    *row_plans.GRADIENT_X,
    *row_plans.UNUSUAL_DOUT,
    *row_plans.parameter_gradients(("dgamma", "dbeta")),
    *row_plans.SHAPES,
    *row_plans.PRECISION,
    *(
        CasePlan("precision", "far-mean", "matrix", dtype, eps="positive")
        for dtype in ("float32", "float64")
    ),
    *row_plans.STATE,
)
