"""What is tested of RMSNorm forward, for float32: groups with their weights, cases, plans."""

from __future__ import annotations

from typing import Final

from gpu_worker.exercises import row_plans
from gpu_worker.exercises.spec import Group, PublicCase

GROUPS: Final = (
    Group("public", "Public examples", 0.15),
    Group("forward", "Forward pass", 0.25),
    Group("shapes", "One to four dimensions, odd sizes, empty batches", 0.10),
    Group("precision", "Tiny and large values, eps", 0.10),
    Group("state", "Repeated calls and several instances", 0.10),
    Group("traffic", "At most 3.25 times the bytes of x moved, in two launches", 0.30),
)

PUBLIC_CASES: Final = (
    PublicCase(
        id="chapter-example",
        title="One row, gamma as the class makes it, default eps",
        dtype="float32",
        x=[[1.0, 2.0, 3.0, 4.0]],
    ),
    PublicCase(
        id="gamma",
        title="Two rows with a gamma that is not all ones",
        dtype="float32",
        eps=1e-5,
        x=[[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]],
        parameters={"gamma": [0.5, -1.0, 2.0]},
    ),
    PublicCase(
        id="three-dimensions",
        title="A batch of two sequences of two tokens: every row is normalized by itself",
        dtype="float32",
        eps=1e-6,
        x=[[[1.0, -2.0, 0.5], [0.0, 0.25, -1.0]], [[4.0, 3.0, -2.0], [0.1, 0.2, 0.3]]],
        parameters={"gamma": [1.5, 0.5, -0.5]},
    ),
)

PLANS: Final = row_plans.for_float32_kernels(
    (*row_plans.FORWARD, *row_plans.SHAPES, *row_plans.PRECISION, *row_plans.STATE),
    forward_only=True,
)
