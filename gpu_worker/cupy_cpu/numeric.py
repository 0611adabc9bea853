"""NumPy functions that need no special treatment: NumPy computes, one kernel is counted."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from . import memory, traffic
from .array import backing, ndarray, unwrap, unwrap_deep, view
from .creation import array, asnumpy
from .dtypes import HALVES
from .operands import operands, result

_COMPUTED: Final = (
    # Comparisons.
    *("allclose", "isclose", "array_equal", "array_equiv", "isin", "isneginf", "isposinf"),
    *("isreal", "iscomplex"),
    # Element by element.
    *("round", "around", "nan_to_num", "angle", "sinc", "i0", "fix", "interp", "select"),
    *("real_if_close", "unwrap"),
    # Along axes.
    *("gradient", "ediff1d", "trapezoid", "convolve", "correlate"),
    # Sets, searching, counting.
    *("searchsorted", "digitize", "bincount", "histogram", "argwhere", "argpartition"),
    *("partition", "lexsort", "extract", "choose", "union1d", "intersect1d", "setdiff1d"),
    *("setxor1d", "unravel_index", "ravel_multi_index", "cov", "corrcoef"),
    # Other shapes.
    *("append", "delete", "resize", "pad", "diagflat", "vander", "trim_zeros", "packbits"),
    *("unpackbits", "polyval"),
)
_WIDE: Final = (
    "nanvar",
    "nanstd",
    "nanmedian",
    "percentile",
    "quantile",
    "nancumsum",
    "nancumprod",
)
"""Functions that compute halves in float32."""
_MADE: Final = ("tri", "logspace", "indices", "tril_indices", "triu_indices", "diag_indices",
                "hamming", "hanning", "blackman", "bartlett", "kaiser")  # fmt: skip
"""Functions that create arrays from numbers."""
_FROM_HOST: Final = ("fromfunction", "fromiter", "frombuffer")
"""Functions whose numbers come from the host."""
_PARTS: Final = ("array_split", "vsplit", "hsplit", "dsplit")
_INTO: Final = {
    "fill_diagonal": ("val", 0),
    "put": ("v", 1),
    "putmask": ("values", 1),
    "place": ("vals", 1),
    "put_along_axis": ("values", 1),
}
"""Those that write into their first argument: what the values are called, and where they stand."""


def _computed(name: str, *, wide: bool = False) -> Callable[..., Any]:
    compute = getattr(np, name)

    def function(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        given = operands(args, kwargs)
        half = wide and bool(given.arrays) and given.arrays[0].dtype in HALVES
        if half:
            given.values[0] = given.values[0].astype(np.float32)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            computed = compute(*given.values, **given.named)
        if half:
            computed = np.asarray(computed).astype(given.arrays[0].dtype)
        return result(given.arrays, computed, out, fusible=name in ("round", "around"))

    function.__name__ = name
    return function


def _from_host(name: str) -> Callable[..., Any]:
    compute = getattr(np, name)

    def function(*args: Any, **kwargs: Any) -> Any:
        return array(compute(*args, **kwargs))

    return function


def _parts(name: str) -> Callable[..., Any]:
    compute = getattr(np, name)

    def function(ary: Any, *args: Any, **kwargs: Any) -> list[Any]:
        return [view(part) for part in compute(unwrap(ary), *args, **kwargs)]

    return function


def _into(name: str, value_name: str, place: int) -> Callable[..., None]:
    """Return a function that writes values, its argument at a place after the array."""
    compute = getattr(np, name)

    def function(a: Any, *args: Any, **kwargs: Any) -> None:
        if not isinstance(a, ndarray):
            raise TypeError(f"Unsupported type {type(a)}")
        given = operands(args, kwargs)
        compute(backing(a), *given.values, **given.named)
        # The same call on an array of flags shows which elements were written.
        if value_name in given.named:
            given.named[value_name] = [True]
        else:
            given.values[place] = [True]
        written = np.zeros(a.shape, bool)
        compute(written, *given.values, **given.named)
        memory.mark_written(backing(a), written)
        traffic.count(given.arrays, [backing(a)[written]])

    return function


def _of_array(name: str) -> Callable[..., Any]:
    """Return a function that tells of an array without computing, such as its shape."""
    compute = getattr(np, name)

    def function(a: Any, *args: Any, **kwargs: Any) -> Any:
        return compute(unwrap_deep(a), *args, **kwargs)

    return function


def _of_two(name: str) -> Callable[..., Any]:
    compute = getattr(np, name)

    def function(a: Any, b: Any) -> Any:
        return compute(unwrap(a), unwrap(b))

    return function


def _as_text(name: str) -> Callable[..., Any]:
    compute = getattr(np, name)

    def function(a: Any, *args: Any, **kwargs: Any) -> Any:
        return compute(asnumpy(a), *args, **kwargs)

    return function


def real(val: Any) -> Any:
    """Return the real part: a view."""
    return val.real


def imag(val: Any) -> Any:
    """Return the imaginary part."""
    return val.imag


def astype(x: Any, dtype: Any, copy: bool = True) -> Any:
    """Return the array in another dtype."""
    return x.astype(dtype, copy=copy)


def ix_(*args: Any) -> tuple[Any, ...]:
    """Return indices that pick rows and columns."""
    given = operands(args, {})
    picked: tuple[Any, ...] = result(given.arrays, np.ix_(*given.values))
    return picked


class _Indexed:
    """What makes arrays by indexing: coordinates by slices, arrays put together."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def __getitem__(self, key: Any) -> Any:
        given = operands([key], {})
        return result(given.arrays, self._source[given.values[0]])


FUNCTIONS: Final[dict[str, Any]] = {
    **{name: _computed(name) for name in _COMPUTED},
    **{name: _computed(name, wide=True) for name in _WIDE},
    **{name: _computed(name) for name in _MADE},
    **{name: _from_host(name) for name in _FROM_HOST},
    **{name: _parts(name) for name in _PARTS},
    **{name: _into(name, *values) for name, values in _INTO.items()},
    **{name: _of_array(name) for name in ("shape", "size", "ndim", "isfortran")},
    **{name: _of_array(name) for name in ("iscomplexobj", "isrealobj", "isscalar")},
    **{name: _as_text(name) for name in ("array_repr", "array_str", "array2string")},
    **{name: _of_two(name) for name in ("shares_memory", "may_share_memory")},
    "real": real,
    "imag": imag,
    "astype": astype,
    "ix_": ix_,
    "mgrid": _Indexed(np.mgrid),
    "ogrid": _Indexed(np.ogrid),
    "r_": _Indexed(np.r_),
    "c_": _Indexed(np.c_),
}
