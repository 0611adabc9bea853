"""Case plans that every normalization over the last axis shares.

Each tuple below is one group's cases. An exercise's `cases.py` puts them together and adds its
own. Sizes are small on purpose: all cases of a grading together stay near a few megabytes, so
that plain loops finish and a good submission is graded in a fraction of a second. Every rank,
every layout and every essential family meets each dtype in every grading; the rest is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

from gpu_worker.exercises.spec import CasePlan, Dtype

KernelDtype = Dtype | Literal["any", "any-kernel", "wide"]

DTYPES: Final[tuple[Dtype, ...]] = ("float32", "float64", "float16")

FORWARD: Final = (
    *(CasePlan("forward", "normal", "matrix", dtype, checks=("y",)) for dtype in DTYPES),
    CasePlan("forward", "normal", "odd", "any", checks=("y",)),
    CasePlan("forward", "uniform", "thousand", "any", checks=("y",)),
    CasePlan("forward", "mean-three", "matrix", "any", checks=("y",)),
    CasePlan("forward", "outlier", "matrix", "wide", checks=("y",)),
    CasePlan("forward", "mixed-scales", "matrix", "wide", checks=("y",)),
    CasePlan("forward", "alternating", "wide", "float32", checks=("y",)),
    CasePlan("forward", "normal", "few-columns", "wide", parameters="signs-zeros", checks=("y",)),
    CasePlan("forward", "normal", "few-columns", "any", parameters="zeros", checks=("y",)),
    CasePlan("forward", "normal", "few-columns", "wide", parameters="hundred", checks=("y",)),
)

UNUSUAL_DOUT: Final = (
    *(
        CasePlan("gradient-x", "normal", "matrix", dtype, dout="uneven", checks=("dx",))
        for dtype in DTYPES
    ),
    *(
        CasePlan("gradient-x", "normal", "matrix", "any", dout=dout, checks=("dx",))
        for dout in ("padded", "zeros", "ones")
    ),
    CasePlan("precision", "normal", "matrix", "any", dout="uneven", eps="moderate"),
    CasePlan("precision", "normal", "matrix", "any", dout="padded", eps="moderate"),
)
"""What reaches a layer in training and no random dout has: see `families.draw_dout`."""

GRADIENT_X: Final = (
    *(CasePlan("gradient-x", "normal", "matrix", dtype, checks=("dx",)) for dtype in DTYPES),
    CasePlan("gradient-x", "normal", "odd", "any", checks=("dx",)),
    CasePlan("gradient-x", "uniform", "thousand", "wide", checks=("dx",)),
    CasePlan("gradient-x", "mean-three", "few-columns", "any", checks=("dx",)),
    CasePlan("gradient-x", "outlier", "matrix", "wide", dout="one-hot", checks=("dx",)),
    CasePlan("gradient-x", "mixed-scales", "matrix", "wide", checks=("dx",)),
    CasePlan("gradient-x", "normal", "matrix", "wide", dout="along-xhat", checks=("dx",)),
    CasePlan("gradient-x", "normal", "wide", "float32", parameters="signs-zeros", checks=("dx",)),
    CasePlan("gradient-x", "normal", "matrix", "wide", parameters="hundred", checks=("dx",)),
)

OF_ALL_SIZES: Final = (
    # Rows so short and so many are near each other by chance: a tiny eps would only amplify that.
    CasePlan("shapes", "normal", "tens-of-thousands", "float32", eps="moderate"),
    CasePlan("shapes", "normal", "long-vector", "any"),
    CasePlan("shapes", "normal", "big-batch", "any"),
    CasePlan("shapes", "normal", "large", "float16", layout="fortran"),
    CasePlan("shapes", "normal", "empty-four", "any"),
    CasePlan("shapes", "normal", "few-columns", "any", sequence="lengths-in-turn"),
)
"""Sizes at which code takes another way: by the rows, the rank, the layout, the rest of D."""

SHAPES: Final = (
    *(
        CasePlan("shapes", "normal", rank, dtype)
        for rank in ("vector", "few-columns", "cube", "four")
        for dtype in DTYPES
    ),
    *(
        CasePlan("shapes", "normal", "several-axes", dtype, layout=layout)
        for layout in ("transposed", "strided", "reversed", "fortran")
        for dtype in DTYPES
    ),
    *(CasePlan("shapes", "normal", "cube", dtype, dout="broadcast") for dtype in DTYPES),
    *(CasePlan("shapes", "normal", "single-column", dtype) for dtype in DTYPES),
    # dout has a layout of its own, and so has a single row.
    CasePlan("shapes", "normal", "cube", "any", layout="fortran", dout_layout="contiguous"),
    CasePlan("shapes", "normal", "cube", "any", dout_layout="fortran"),
    CasePlan("shapes", "normal", "vector", "any", layout="strided"),
    CasePlan("shapes", "normal", "vector", "any", layout="reversed"),
    CasePlan("shapes", "normal", "one-row", "wide"),
    CasePlan("shapes", "normal", "empty", "any"),
    CasePlan("shapes", "normal", "empty", "any"),
    *(CasePlan("shapes", "normal", "tall", dtype) for dtype in DTYPES),
    CasePlan("shapes", "normal", "matrix", "wide", layout="drawn"),
    CasePlan("shapes", "normal", "listed", "any"),
    CasePlan("shapes", "drawn-long", "listed", "wide", layout="drawn", eps="moderate"),
    *(CasePlan("shapes", "normal", "very-wide", dtype) for dtype in DTYPES),
    CasePlan("shapes", "signs", "longest", "float16"),
    CasePlan("shapes", "signs", "widest", "wide"),
    CasePlan("shapes", "normal", "pieces", "float64"),
    *OF_ALL_SIZES,
)

PRECISION: Final = (
    CasePlan("precision", "normal", "matrix", "float16"),
    CasePlan("precision", "large", "thousand", "float16", eps=1e-6),
    CasePlan("precision", "large", "few-columns", "float16", eps="positive"),
    CasePlan("precision", "huge", "matrix", "float16", eps=1e-6),
    CasePlan("precision", "zero-rows", "matrix", "float16", eps=1e-8, checks=("y",)),
    CasePlan("precision", "zero-rows", "matrix", "float16", eps="positive"),
    CasePlan("precision", "zero-rows", "matrix", "wide", eps="positive"),
    CasePlan("precision", "constant-rows", "matrix", "wide", eps="moderate"),
    CasePlan("precision", "small", "matrix", "float32", eps=1e-6),
    CasePlan("precision", "small", "matrix", "float64", eps="positive"),
    CasePlan("precision", "micro", "matrix", "any", eps="positive"),
    CasePlan("precision", "tiny", "matrix", "wide", eps="positive"),
    CasePlan("precision", "subnormal", "matrix", "any", eps="moderate", checks=("y",)),
    CasePlan("precision", "large", "matrix", "wide"),
    CasePlan("precision", "enormous", "matrix", "float32", eps="positive"),
    CasePlan("precision", "enormous", "matrix", "float64", eps="positive"),
    CasePlan("precision", "normal", "matrix", "wide", eps=0.0),
    CasePlan("precision", "micro", "matrix", "wide", eps=0.0),
    CasePlan("precision", "bad-rows", "matrix", "wide", checks=("y", "dx")),
    CasePlan("precision", "bad-rows", "four", "any", checks=("y", "dx")),
    CasePlan("precision", "normal", "matrix", "any", dout="bad-rows", checks=("dx",)),
    *(CasePlan("precision", "drawn", "matrix", dtype, eps="moderate") for dtype in DTYPES),
    CasePlan("precision", "drawn", "cube", "any", eps="moderate"),
)

KEPT_TOO_LONG: Final = (
    CasePlan("state", "normal", "few-columns", "any", sequence="same-dout"),
    CasePlan("state", "normal", "few-columns", "any", sequence="same-bytes-reshaped"),
)
"""Results that are looked up by less than what they depend on."""

STATE: Final = (
    CasePlan("state", "normal", "few-columns", "wide", sequence="two-forwards"),
    CasePlan("state", "normal", "few-columns", "wide", eps="coarse", sequence="interleaved"),
    CasePlan("state", "normal", "few-columns", "any", sequence="strangers"),
    CasePlan("state", "normal", "few-columns", "any", sequence="ranks-in-turn"),
    CasePlan("state", "normal", "few-columns", "any", sequence="dtypes-in-turn"),
    CasePlan("state", "normal", "few-columns", "any", sequence="small-large-small"),
    *(
        CasePlan("state", "normal", "few-columns", dtype, sequence="three-times")
        for dtype in DTYPES
    ),
    CasePlan("state", "normal", "few-columns", "wide", sequence="two-backwards"),
    CasePlan("state", "normal", "few-columns", "wide", sequence="new-parameters"),
    CasePlan("state", "normal", "few-columns", "any", sequence="refilled"),
    CasePlan("state", "normal", "square", "wide", sequence="near-copies"),
    CasePlan("state", "normal", "few-columns", "any", sequence="many-calls"),
    CasePlan(
        "state", "signs", "even-columns", "any", parameters="as-made", eps=0.0, sequence="refilled"
    ),
    CasePlan("state", "normal", "few-columns", "wide", eps="coarse", sequence="equal-parameters"),
    *KEPT_TOO_LONG,
)


def parameter_gradients(gradients: tuple[str, ...]) -> tuple[CasePlan, ...]:
    """Return the plans that check the gradients of the parameters, for example ("dgamma",)."""
    group = "gradient-gamma"
    return (
        *(CasePlan(group, "normal", "matrix", dtype, checks=gradients) for dtype in DTYPES),
        CasePlan(group, "mean-three", "tall", "float32", checks=gradients),
        CasePlan(group, "uniform", "tall", "float64", checks=gradients),
        CasePlan(group, "steady", "thousand-rows", "float16", dout="positive", checks=gradients),
        CasePlan(group, "normal", "cube", "any", checks=gradients),
        CasePlan(group, "outlier", "four", "wide", checks=gradients),
        CasePlan(group, "normal", "matrix", "wide", dout="along-xhat", checks=gradients),
        CasePlan(group, "normal", "matrix", "any", parameters="signs-zeros", checks=gradients),
        CasePlan(group, "normal", "few-columns", "any", parameters="zeros", checks=gradients),
        *(
            CasePlan(group, "normal", "few-columns", "any", dout=dout, checks=gradients)
            for dout in ("padded", "zeros", "ones")
        ),
        *(
            CasePlan(group, "normal", "matrix", dtype, dout="uneven", checks=gradients)
            for dtype in ("float16", "wide")
        ),
    )


_ROWS_AT_THE_BOUND: Final = 2


def at_the_longest_row(longest: int) -> tuple[CasePlan, ...]:
    """Return plans for rows of the largest D that a contract allows, and of one less.

    What holds a row in registers or in shared memory, and has too little of them, is right for all
    rows but these. Two rows each: a kernel that takes several in turn meets its bound again.
    """
    return tuple(
        CasePlan("shapes", "normal", (_ROWS_AT_THE_BOUND, dim), "float32", eps="moderate")
        for dim in (longest, longest - 1)
    )


# --- the CuPy track ------------------------------------------------------------------------------
_SMALLER: Final = {
    "matrix": "small-matrix",
    "thousand": "row-of-a-thousand",
    "tall": "hundred-rows",
    "tens-of-thousands": "hundreds-of-rows",
    "thousand-rows": "hundreds-of-rows",
    "square": "small-square",
    "very-wide": "wide-row",
    "widest": "widest-row",
    "longest": "widest-row",
}
"""Kernels run thread after thread on a processor: what takes long there is smaller."""
_FOR_NUMPY: Final = ("pieces", "long-vector", "big-batch", "large")
"""So many blocks, or so many numbers, that a processor would take seconds for the threads."""
_IN_EVERY_DTYPE: Final = ("forward", "gradient-x", "gradient-gamma")


def for_kernels(plans: Sequence[CasePlan]) -> tuple[CasePlan, ...]:
    """Return the same plans for the CuPy track: with bfloat16, and in smaller shapes.

    What NumPy meets once in each dtype is met so here in the groups that test the mathematics; in
    the others once in float32 and once in a dtype that each grading draws.
    """
    kept: list[CasePlan] = []
    for plan in plans:
        if plan.shape in _FOR_NUMPY:
            continue
        dtypes = {other.dtype for other in plans if replace(other, dtype=plan.dtype) == plan}
        shape = _SMALLER.get(plan.shape, plan.shape) if isinstance(plan.shape, str) else plan.shape
        dtype: KernelDtype = "any-kernel" if plan.dtype == "any" else plan.dtype
        everywhere = dtypes.issuperset(DTYPES)
        if everywhere and plan.group not in _IN_EVERY_DTYPE and plan.dtype != "float32":
            if plan.dtype == "float64":
                continue
            dtype = "any-kernel"
        kept.append(replace(plan, dtype=dtype, shape=shape))
        if everywhere and plan.group in _IN_EVERY_DTYPE and plan.dtype == "float16":
            kept.append(replace(plan, dtype="bfloat16", shape=shape))
    return tuple(kept)


_LONGER_THAN_8192: Final = ("very-wide", "widest")
_MORE_ROWS_THAN_BLOCKS_RUN: Final = (2_113, 2)
"""16 blocks for each of 132 multiprocessors are 2,112: a grid of a fixed size is left with a row.
Tens of thousands would take a processor ten seconds.
"""


def for_float32_kernels(
    plans: Sequence[CasePlan], *, forward_only: bool = False
) -> tuple[CasePlan, ...]:
    """Return the plans that are left where x is float32, contiguous, with rows of at most 8,192.

    For exercises about one kernel, which need no templates. `forward_only` leaves out what is only
    about gradients, and has so many rows in turn that no grid takes them all by chance.
    """
    kept: dict[CasePlan, None] = {}
    for plan in plans:
        contiguous = plan.layout == "contiguous" and plan.dout_layout in ("", "contiguous")
        if plan.dtype not in ("float32", "wide", "any") or not contiguous:
            continue
        if plan.shape in _LONGER_THAN_8192 or (forward_only and "dx" in plan.checks[:1]):
            continue
        checks = ("y",) if forward_only else plan.checks
        many = forward_only and plan.shape == "tens-of-thousands"
        shape = _MORE_ROWS_THAN_BLOCKS_RUN if many else plan.shape
        dout = "random" if forward_only or plan.dout == "broadcast" else plan.dout
        kept[replace(plan, dtype="float32", shape=shape, checks=checks, dout=dout)] = None
    return tuple(kept)
