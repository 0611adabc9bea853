"""What is tested of softmax and cross-entropy: groups, public cases, hidden plans."""

from __future__ import annotations

from typing import Final

from gpu_worker.exercises.row_plans import DTYPES, KEPT_TOO_LONG, OF_ALL_SIZES, UNUSUAL_DOUT
from gpu_worker.exercises.spec import CasePlan, Group, PublicCase

GROUPS: Final = (
    Group("public", "Public examples", 0.10),
    Group("losses", "Losses of all classes", 0.20),
    Group("gradient-x", "Gradient for x", 0.25),
    Group("shapes", "One to four dimensions, odd sizes, memory layouts", 0.15),
    Group("precision", "Large, tiny and half-precision logits", 0.20),
    Group("state", "Repeated calls and several instances", 0.10),
)

PUBLIC_CASES: Final = (
    PublicCase(
        id="chapter-example",
        title="The chapter's row; dout picks the first class, so that dx = p - y",
        dtype="float64",
        x=[[2.0, 1.0, 0.0]],
        dout=[[1.0, 0.0, 0.0]],
    ),
    PublicCase(
        id="weighted-classes",
        title="Two rows; a dout that does not add up to one",
        dtype="float32",
        x=[[0.5, -1.5, 2.0, 0.0], [3.0, 0.25, -0.75, 1.0]],
        dout=[[1.0, -0.5, 0.25, 2.0], [-2.0, 0.75, 1.5, 0.5]],
    ),
    PublicCase(
        id="three-dimensions",
        title="Two sequences of two tokens, each a row of its own",
        dtype="float32",
        x=[[[1.0, -2.0, 0.5], [0.0, 0.25, -1.0]], [[4.0, 3.0, -2.0], [0.1, 0.2, 0.3]]],
        dout=[[[0.5, 1.0, -1.0], [2.0, 0.0, 1.0]], [[-0.5, 0.25, 0.75], [1.0, -1.0, 0.5]]],
    ),
    PublicCase(
        id="large-logits",
        title="Logits whose exponentials do not fit into any floating-point type",
        dtype="float32",
        x=[[1000.0, 999.0, -1000.0], [-2000.0, -2001.0, -2002.0]],
        dout=[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
    ),
)

_LOSSES: Final = (
    *(CasePlan("losses", "normal", "matrix", dtype, checks=("y",)) for dtype in DTYPES),
    CasePlan("losses", "normal", "odd", "any", checks=("y",)),
    CasePlan("losses", "uniform", "thousand", "any", checks=("y",)),
    CasePlan("losses", "mean-three", "matrix", "any", checks=("y",)),
    CasePlan("losses", "alternating", "wide", "float32", checks=("y",)),
    CasePlan("losses", "constant-rows", "few-columns", "any", checks=("y",)),
    CasePlan("losses", "outlier", "matrix", "wide", checks=("y",)),
)

_GRADIENT: Final = (
    *(CasePlan("gradient-x", "normal", "matrix", dtype, checks=("dx",)) for dtype in DTYPES),
    *(
        CasePlan("gradient-x", "normal", "few-columns", dtype, dout="one-hot", checks=("dx",))
        for dtype in DTYPES
    ),
    CasePlan("gradient-x", "normal", "odd", "any", checks=("dx",)),
    CasePlan("gradient-x", "uniform", "thousand", "wide", dout="positive", checks=("dx",)),
    CasePlan("gradient-x", "mean-three", "few-columns", "any", checks=("dx",)),
    CasePlan("gradient-x", "normal", "wide", "float32", checks=("dx",)),
    CasePlan("gradient-x", "mixed-scales", "matrix", "wide", checks=("dx",)),
)

_SHAPES: Final = (
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
    CasePlan("shapes", "normal", "cube", "any", layout="fortran", dout_layout="contiguous"),
    CasePlan("shapes", "normal", "cube", "any", dout_layout="fortran"),
    CasePlan("shapes", "normal", "vector", "any", layout="strided"),
    CasePlan("shapes", "normal", "vector", "any", layout="reversed"),
    CasePlan("shapes", "normal", "one-row", "wide"),
    *(CasePlan("shapes", "normal", "tall", dtype) for dtype in DTYPES),
    CasePlan("shapes", "normal", "empty", "any"),
    CasePlan("shapes", "normal", "empty", "any"),
    CasePlan("shapes", "normal", "matrix", "wide", layout="drawn"),
    CasePlan("shapes", "normal", "listed", "any"),
    *(CasePlan("shapes", "normal", "very-wide", dtype) for dtype in DTYPES),
    CasePlan("shapes", "normal", "pieces", "float64"),
    *OF_ALL_SIZES,
)

_PRECISION: Final = (
    *(CasePlan("precision", "large", "few-columns", dtype) for dtype in DTYPES),
    *(CasePlan("precision", "large", "matrix", dtype) for dtype in DTYPES),
    *(CasePlan("precision", "huge", "few-columns", dtype) for dtype in DTYPES),
    *(CasePlan("precision", "enormous", "few-columns", dtype) for dtype in ("float32", "float64")),
    *(CasePlan("precision", "far-mean", "few-columns", dtype) for dtype in DTYPES),
    *(CasePlan("precision", "mixed-scales", "matrix", dtype) for dtype in DTYPES),
    CasePlan("precision", "outlier", "matrix", "any"),
    CasePlan("precision", "small", "matrix", "any"),
    CasePlan("precision", "micro", "matrix", "wide"),
    CasePlan("precision", "tiny", "few-columns", "wide"),
    CasePlan("precision", "subnormal", "few-columns", "any"),
    CasePlan("precision", "zero-rows", "matrix", "any"),
    CasePlan("precision", "normal", "wide", "float16"),
    # In float16 the sum of ones stops at 2048.
    CasePlan("precision", "constant-rows", "very-wide", "float16"),
    CasePlan("precision", "bad-rows", "matrix", "wide"),
    CasePlan("precision", "bad-rows", "four", "any"),
    CasePlan("precision", "normal", "matrix", "any", dout="bad-rows", checks=("dx",)),
    *(CasePlan("precision", "drawn", "matrix", dtype) for dtype in DTYPES),
    CasePlan("precision", "drawn", "cube", "any"),
)

_STATE: Final = (
    CasePlan("state", "normal", "few-columns", "wide", sequence="two-forwards"),
    CasePlan("state", "normal", "few-columns", "wide", sequence="interleaved"),
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
    *(CasePlan("state", "normal", "few-columns", dtype, sequence="refilled") for dtype in DTYPES),
    CasePlan("state", "normal", "square", "wide", sequence="near-copies"),
    CasePlan("state", "normal", "few-columns", "any", sequence="many-calls"),
    *KEPT_TOO_LONG,
)

PLANS: Final = (*_LOSSES, *_GRADIENT, *UNUSUAL_DOUT, *_SHAPES, *_PRECISION, *_STATE)
