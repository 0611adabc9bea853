"""Distributions of inputs, which plans call families: values, shapes, parameters, gradients.

Values are drawn in float64 and rounded to the case's dtype; the rounded values are what counts: the
reference sees exactly what the submission sees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpu_worker.judge.cases import dtypes

Floats = NDArray[np.float64]
Shape = tuple[int, ...]
Draw = np.random.Generator

FLOAT16: Final = np.dtype(np.float16)

SCALES: Final = {"small": 1e-3, "micro": 1e-6, "tiny": 1e-20}
LARGE: Final = {"large": (300.0, 1e3), "huge": (3e4, 1e3), "enormous": (3e4, 1e15)}
"""For float16, and for the wider dtypes. The cube of 1e15 does not fit into float32."""


T = TypeVar("T")


def one_of(values: Sequence[T], draw: Draw) -> T:
    """Return one of the values. `Generator.choice` takes ten times as long."""
    return values[int(draw.integers(len(values)))]


def sign(draw: Draw) -> float:
    """Return -1 or 1."""
    return one_of((-1.0, 1.0), draw)


def signs(draw: Draw, shape: Shape) -> Floats:
    """Return -1 and 1 (shape) at random."""
    return np.subtract(1.0, 2.0 * draw.integers(0, 2, shape, dtype=np.int8), dtype=np.float64)


def draw_x(family: str, draw: Draw, shape: Shape, dtype: np.dtype[Any]) -> Floats:
    """Return x (shape) of a family, in float64, not yet rounded to `dtype`.

    Raises:
        KeyError: no such family.
    """
    if family in SCALES:
        return draw.standard_normal(shape) * SCALES[family]
    if family in LARGE:
        return _within_range(draw, shape, LARGE[family][0 if dtype == FLOAT16 else 1])
    if family == "subnormal":
        counts = draw.integers(-50, 51, shape).astype(np.float64)
        return counts * float(dtypes.limits_of(dtype).smallest_subnormal)
    return _FAMILIES[family](draw, shape)


def _within_range(draw: Draw, shape: Shape, magnitude: float) -> Floats:
    """Numbers of about one magnitude and random sign, none above 2 * magnitude."""
    return draw.uniform(0.5, 2.0, shape) * magnitude * signs(draw, shape)


def _outlier(draw: Draw, shape: Shape) -> Floats:
    x = draw.standard_normal(shape)
    columns = draw.integers(0, shape[-1], (*shape[:-1], 1))
    np.put_along_axis(x, columns, 1e3 * signs(draw, columns.shape), axis=-1)
    return x


def _constant_rows(draw: Draw, shape: Shape) -> Floats:
    return np.broadcast_to(draw.standard_normal((*shape[:-1], 1)), shape).copy()


def _zero_rows(draw: Draw, shape: Shape) -> Floats:
    x = draw.standard_normal(shape)
    x[_some_rows(draw, shape[:-1])] = 0.0
    return x


def _mixed_scales(draw: Draw, shape: Shape) -> Floats:
    exponents = draw.uniform(-3, 3, (*shape[:-1], 1))
    return draw.standard_normal(shape) * 10.0**exponents


def _alternating(draw: Draw, shape: Shape) -> Floats:
    signs = np.where(np.arange(shape[-1]) % 2, -1.0, 1.0)
    return signs * draw.uniform(0.5, 1.5, shape)


def _steady(draw: Draw, shape: Shape) -> Floats:
    signs = np.where(np.arange(shape[-1]) % 2, -1.0, 1.0)
    return signs * draw.uniform(0.97, 1.03, shape)


def _signs(draw: Draw, shape: Shape) -> Floats:
    """Plus and minus one in turn, from a random column on: normalized already where D is even."""
    start = draw.integers(0, 2, (*shape[:-1], 1))
    return np.where((np.arange(shape[-1]) + start) % 2, -1.0, 1.0)


def _bad_rows(draw: Draw, shape: Shape) -> Floats:
    x = draw.standard_normal(shape)
    rows = x.reshape(-1, shape[-1])
    first, second = draw.choice(len(rows), 2, replace=False)
    rows[first, draw.integers(shape[-1])] = np.nan
    rows[second, draw.integers(shape[-1])] = sign(draw) * np.inf
    return x


def _some_rows(draw: Draw, leading: Shape) -> NDArray[np.bool_]:
    """At least one row, and not all where there are several."""
    count = int(np.prod(leading))
    chosen = np.zeros(count, dtype=bool)
    chosen[draw.choice(count, max(1, count // 3), replace=False)] = True
    return chosen.reshape(leading)


_FAMILIES: Final[dict[str, Callable[[Draw, Shape], Floats]]] = {
    "normal": lambda draw, shape: draw.standard_normal(shape),
    "uniform": lambda draw, shape: draw.uniform(0.0, 1.0, shape),
    "far-mean": lambda draw, shape: draw.standard_normal(shape) + 1000.0,
    "mean-three": lambda draw, shape: draw.standard_normal(shape) + 3.0,
    "outlier": _outlier,
    "constant-rows": _constant_rows,
    "zero-rows": _zero_rows,
    "mixed-scales": _mixed_scales,
    "alternating": _alternating,
    "signs": _signs,
    "steady": _steady,
    "bad-rows": _bad_rows,
}

FAMILIES: Final = (*_FAMILIES, *SCALES, *LARGE, "subnormal")
"""All that a plan may name. The site has words for each, in `grader/presentation/words.py`."""
DRAWN: Final = (
    *("normal", "uniform", "mean-three", "outlier", "constant-rows", "zero-rows", "mixed-scales"),
    *("alternating", "signs", "steady", *SCALES, *LARGE),
)
"""What the family "drawn" stands for: all that are right for any dtype and check."""
DRAWN_LONG: Final = tuple(name for name in DRAWN if name not in ("constant-rows", "steady"))
"""What "drawn-long" stands for. Added one after the other, a thousand equal numbers are rounded
the same way each time, so that even honest float32 code drifts past the tolerance."""
HALF_GAMMA: Final = 1.9
"""The largest gamma in float16 and bfloat16. Where the normalized x is subnormal, rounding it
before it is multiplied by gamma costs half a step times gamma more than rounding once; both are
right."""
LAYOUTS: Final = ("contiguous", "transposed", "strided", "reversed", "fortran")
"""What the layout "drawn" stands for."""


# --- shapes --------------------------------------------------------------------------------------
DIMS: Final = (1, 2, 3, 7, 31, 32, 33, 64, 100, 127, 128, 129, 255, 1000, 1023, 1024, 1025, 2048)
"""Lengths of a row, around the sizes at which code takes another path."""


def draw_shape(name: str | Shape, draw: Draw) -> Shape:
    """Return a shape (..., D) of a set, or the shape itself where a plan gives one.

    Raises:
        KeyError: no such set.
    """
    if not isinstance(name, str):
        return name

    def some(low: int, high: int) -> int:
        return int(draw.integers(low, high + 1))

    def any_of(*values: int) -> int:
        return one_of(values, draw)

    def ranks() -> Shape:
        rows = (some(2, 4), some(1, 3), some(2, 5))[: any_of(1, 2, 3)]
        return (*rows, any_of(2, 3, 7, 16, 31, 33))

    def one_of_batches() -> Shape:
        return ((2, some(40, 64)), (2, 2, some(20, 32)))[some(0, 1)]

    shapes: dict[str, Callable[[], Shape]] = {
        "few-columns": lambda: (some(4, 17), some(2, 9)),
        "even-columns": lambda: (some(4, 17), any_of(2, 4, 6, 8)),
        "matrix": lambda: (some(3, 17), any_of(31, 32, 33, 64, 100, 127, 128, 129)),
        "odd": lambda: (some(2, 9), any_of(3, 7, 31, 33, 127, 129, 255)),
        "thousand": lambda: (some(2, 4), any_of(255, 256, 257, 1000, 1023, 1024, 1025)),
        "wide": lambda: (some(1, 2), any_of(2048, 4096, 4097, 5000)),
        # Summed sequentially, the squares of 16,384 random numbers drift past half of the limit,
        # those of 65,536 past all of it once in a hundred gradings. Rows of that length hold plus
        # and minus one, whose sums are exact.
        "very-wide": lambda: (1, any_of(8192, 16385, 32768)),
        "longest": lambda: (1, 65536),
        "widest": lambda: (1, any_of(16384, 65536)),
        "square": lambda: (some(12, 20), any_of(128, 129, 200)),
        "listed": lambda: (any_of(1, 2, 3, 17), any_of(*DIMS)),
        "several-axes": ranks,
        "tall": lambda: (any_of(132, 500, 1000), some(2, 9)),
        # More rows than a 16-bit counter can count, so few columns.
        "tens-of-thousands": lambda: (some(32_800, 34_000), 2),
        "thousand-rows": lambda: (any_of(1000, 1100, 1200), some(2, 4)),
        # More than a megabyte of float64: code that works in cache-sized chunks has several.
        "pieces": lambda: (some(132, 136), any_of(1000, 1023, 1025)),
        "vector": lambda: (any_of(2, 5, 33, 128),),
        "long-vector": lambda: (some(129, 2000),),
        "one-row": lambda: (1, any_of(2, 3, 64)),
        "single-column": lambda: (some(2, 17), 1),
        "cube": lambda: (some(2, 4), some(2, 5), any_of(3, 7, 32, 33)),
        "four": lambda: (some(2, 3), some(1, 3), some(2, 4), any_of(3, 7, 16, 31)),
        "big-batch": lambda: (*one_of_batches(), some(96, 128)),
        "large": lambda: (some(340, 360), some(207, 215)),
        # For the CuPy track, whose kernels run one thread after the other.
        "small-matrix": lambda: (some(2, 5), any_of(31, 32, 33, 64, 100, 127, 128, 129)),
        "row-of-a-thousand": lambda: (some(1, 3), any_of(255, 256, 257, 1000, 1023, 1024, 1025)),
        "hundred-rows": lambda: (any_of(100, 132, 200), some(2, 9)),
        "hundreds-of-rows": lambda: (any_of(250, 300), some(2, 4)),
        "small-square": lambda: (some(6, 9), any_of(128, 129, 200)),
        "wide-row": lambda: (1, any_of(8192, 16385)),
        # For devices: more rows than a grid has blocks along y, and rows of whole vectors.
        "many-rows": lambda: (200_000, any_of(7, 16)),
        "packed": lambda: (some(2, 9), any_of(64, 256, 1024)),
        "widest-row": lambda: (1, 16384),
        "empty-four": lambda: (*((0, 2), (2, 0))[some(0, 1)], 3, some(2, 9)),
        "empty": lambda: ((0, 3, some(2, 9)), (2, 0, some(2, 9)), (0, some(2, 9)))[some(0, 2)],
    }
    return shapes[name]()


# --- eps, parameters, gradients ------------------------------------------------------------------
_EPS: Final = {
    "any": (1e-8, 1e-6, 1e-5, 1e-3, 1.0),
    "positive": (1e-6, 1e-5, 1e-3),
    "moderate": (1e-5, 1e-3),
    "coarse": (1e-3, 1.0),
}


def draw_eps(eps: float | str, draw: Draw) -> float:
    """Return the number itself, or one of a named set."""
    return one_of(_EPS[eps], draw) if isinstance(eps, str) else eps


def other_eps(eps: float | str, taken: float) -> float:
    """Return the largest number of a named set that is not `taken`; `taken` if there is none."""
    values = _EPS[eps] if isinstance(eps, str) else (eps,)
    return max((value for value in values if value != taken), default=taken)


def draw_parameter(kind: str, draw: Draw, dim: int) -> Floats:
    """Return gamma or beta (dim,): random with both signs, with exact zeros, all zero, or large."""
    if kind == "zeros":
        return np.zeros(dim)
    if kind == "hundred":
        return _within_range(draw, (dim,), 100.0)
    values = draw.standard_normal(dim) + signs(draw, (dim,))
    if kind == "signs-zeros":
        values[draw.random(dim) < 0.25] = 0.0
    return values


def draw_dout(
    kind: str, draw: Draw, shape: Shape, dtype: np.dtype[Any], xhat: Callable[[], Floats]
) -> Floats:
    """Return dout (shape), not yet rounded to `dtype`; for `broadcast` with leading axes of one.

    `along-xhat` is proportional to the normalized x, so that the projection takes nearly all
    of the gradient away. `bad-rows` has a NaN in one row and an infinity in another. `padded` is
    zero in some rows, as it is for tokens that no loss counts; `uneven` has rows of very
    different size, see `_uneven_rows`.
    """
    if kind == "uneven":
        return _uneven_rows(draw, shape, dtype)
    if kind == "one-hot":
        dout = np.zeros(shape)
        columns = draw.integers(0, shape[-1], (*shape[:-1], 1))
        np.put_along_axis(dout, columns, draw.standard_normal(columns.shape) + 2.0, axis=-1)
        return dout
    if kind == "along-xhat":
        return xhat() * draw.uniform(0.5, 2.0)
    if kind == "positive":
        # Summed one by one in float16, numbers like these are always rounded the same way.
        return draw.uniform(0.6, 0.7, shape)
    if kind == "broadcast":
        return draw.standard_normal((*(1 for _ in shape[:-1]), shape[-1]))
    return _DOUT.get(kind, _FAMILIES["normal"])(draw, shape)


_DOUT: Final[dict[str, Callable[[Draw, Shape], Floats]]] = {
    "bad-rows": _bad_rows,
    "padded": _zero_rows,
    "zeros": lambda draw, shape: np.zeros(shape),
    "ones": lambda draw, shape: np.ones(shape),
}
_TINY_DOUT: Final = (1e-6, 1e-12)
"""The size of a row's gradient that is tiny: in float16, where it is subnormal, and otherwise."""
_LARGE_DOUT: Final = (300.0, 1e5)
_LARGEST_HALF_DOUT: Final = 8_500.0
"""One element in float16. Eight times it does not fit there, which is more than honest code makes
of it; with gamma, and four times the deviation, it does."""


def _uneven_rows(draw: Draw, shape: Shape, dtype: np.dtype[Any]) -> Floats:
    """Return dout (shape) with a large row, a tiny one, one that adds up to zero and one of ones.

    In this order where there are fewer rows; the others are ordinary. What clips, scales, skips or
    flushes gradients shows in one of them, and a number shared by all rows in each.
    """
    dout = draw.standard_normal(shape)
    rows = dout.reshape(-1, shape[-1])
    kinds = (_large_row, _tiny_row, _row_of_sum_zero, _row_of_ones)
    for row, make in zip(draw.permutation(len(rows)), kinds, strict=False):
        rows[row] = make(draw, shape[-1], half=dtype == FLOAT16)
    return dout


def _large_row(draw: Draw, dim: int, *, half: bool) -> Floats:
    row = draw.standard_normal(dim) * _LARGE_DOUT[0 if half else 1]
    if half:
        row[draw.integers(dim)] = _LARGEST_HALF_DOUT * sign(draw)
    return row


def _tiny_row(draw: Draw, dim: int, *, half: bool) -> Floats:
    return draw.standard_normal(dim) * _TINY_DOUT[0 if half else 1]


def _row_of_sum_zero(draw: Draw, dim: int, *, half: bool) -> Floats:
    """Each number stands there with both signs, so that the sum is zero after rounding too."""
    row = np.zeros(dim)
    values = draw.standard_normal(dim // 2)
    row[: 2 * len(values)] = np.concatenate([values, -values])
    return draw.permutation(row)


def _row_of_ones(draw: Draw, dim: int, *, half: bool) -> Floats:
    return np.ones(dim)
