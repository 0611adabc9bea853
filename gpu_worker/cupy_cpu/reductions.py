"""Reductions along axes. Halves are summed in float32, as in CuPy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from . import traffic
from .array import backing, unwrap
from .dtypes import HALVES, accumulator
from .operands import operands
from .operands import result as finished

_PLAIN: Final = (
    *("max", "min", "amax", "amin", "ptp", "argmax", "argmin", "any", "all", "median"),
    *("nanmax", "nanmin", "nanargmax", "nanargmin", "count_nonzero", "cumsum", "cumprod"),
)
"""Functions of one array for which NumPy and CuPy agree."""
_FUSIBLE: Final = ("max", "min", "amax", "amin", "any", "all", "sum", "prod", "nansum", "nanprod")
"""Functions that CuPy has in `cupy.fuse`, if they keep no axis that they reduce."""
_ADDING: Final = ("sum", "prod", "nansum", "nanprod", "nanmean")


def _array(a: Any) -> Any:
    values = unwrap(a)
    if not isinstance(values, np.ndarray):
        raise TypeError(f"Argument 'a' has incorrect type (expected cupy.ndarray, got {type(a)})")
    return values


def _finish(values: Any, result: Any, out: Any, *, passes: int = 1) -> Any:
    """Count the kernels, one for each pass over the input, and return the result."""
    for _ in range(passes - 1):
        traffic.count([values], [np.asarray(result)])
    return finished([values], result, out)


def _quiet(compute: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return compute(*args, **kwargs)


def _plain(name: str) -> Callable[..., Any]:
    compute = getattr(np, name)

    def function(a: Any, axis: Any = None, out: Any = None, **kwargs: Any) -> Any:
        values = _array(a)
        given = operands((), kwargs)
        made = _quiet(compute, values, axis=axis, **given.named)
        fusible = name in _FUSIBLE and not kwargs
        return finished([values, *given.arrays], made, out, fusible=fusible)

    return function


def _adding(name: str) -> Callable[..., Any]:
    compute = getattr(np, name)

    def function(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        values = _array(a)
        result_dtype = np.dtype(dtype) if dtype is not None else values.dtype
        wide = accumulator(result_dtype) if result_dtype in HALVES else dtype
        result = _quiet(compute, values, axis=axis, dtype=wide, keepdims=keepdims)
        if result_dtype in HALVES:
            result = _quiet(np.asarray(result).astype, result_dtype)
        return finished([values], result, out, fusible=name in _FUSIBLE and not keepdims)

    return function


def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> Any:
    """Return the mean over axes, in the dtype of a floating array."""
    values = _array(a)
    result_dtype = np.dtype(dtype) if dtype is not None else values.dtype
    wide = np.float32 if result_dtype in HALVES else dtype
    result = _quiet(np.mean, values, axis=axis, dtype=wide, keepdims=keepdims)
    if result_dtype in HALVES:
        result = _quiet(np.asarray(result).astype, result_dtype)
    return _finish(values, result, out)


def average(a: Any, axis: Any = None, weights: Any = None) -> Any:
    """Return the mean over axes, weighted where weights are given."""
    if weights is None:
        return mean(a, axis)
    values, factors = _array(a), _array(weights)
    return finished([values, factors], _quiet(np.average, values, axis, factors))


def _spread(name: str) -> Callable[..., Any]:
    compute = getattr(np, name)

    def function(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: int = 0,
        keepdims: bool = False,
    ) -> Any:
        values = _array(a)
        # CuPy first rounds the mean to the dtype of `a`, which loses small deviations.
        centred = values
        result_dtype = np.dtype(dtype) if dtype is not None else values.dtype
        if values.dtype in HALVES:
            with traffic.paused():
                about = backing(mean(a, axis=axis, keepdims=True)).astype(np.float32)
            centred = values.astype(np.float32) - about
            count = values.size // max(about.size, 1)
            total = _quiet(np.sum, centred * centred, axis=axis, keepdims=keepdims)
            result = _quiet(np.divide, total, max(count - ddof, 0))
            result = result if name == "var" else _quiet(np.sqrt, result)
        else:
            result = _quiet(compute, values, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims)
        if result_dtype.kind not in "iub":
            result = _quiet(np.asarray(result).astype, result_dtype)
        # One kernel for the mean, one for the squared deviations.
        return _finish(values, result, out, passes=2)

    return function


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **{name: _plain(name) for name in _PLAIN},
    **{name: _adding(name) for name in _ADDING},
    "mean": mean,
    "average": average,
    "var": _spread("var"),
    "std": _spread("std"),
}
