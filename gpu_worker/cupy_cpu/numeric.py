"""Functions of NumPy's that need no words of their own: NumPy computes, one kernel is counted."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from . import memory, traffic
from .array import backing, ndarray, unwrap, view, wrap
from .dtypes import HALVES

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
"""Those that compute halves in float32."""
_MADE: Final = ("tri", "logspace", "indices", "tril_indices", "triu_indices", "diag_indices",
                "hamming", "hanning", "blackman", "bartlett", "kaiser", "fromfunction",
                "fromiter", "frombuffer")  # fmt: skip
"""Those that make arrays of numbers."""
_PARTS: Final = ("array_split", "vsplit", "hsplit", "dsplit")
_INTO: Final = ("fill_diagonal", "put", "putmask", "place", "put_along_axis")
"""Those that write into their first argument."""


def _operand(value: Any) -> Any:
    """Return what NumPy may compute with; an array of the host's is refused, also in a list."""
    if isinstance(value, (ndarray, np.ndarray)):
        return unwrap(value)
    if isinstance(value, (tuple, list)):
        return type(value)(_operand(item) for item in value)
    return value


def _arrays(values: Iterable[Any]) -> list[Any]:
    found = []
    for value in values:
        if isinstance(value, np.ndarray):
            found.append(value)
        elif isinstance(value, (tuple, list)):
            found += _arrays(value)
    return found


def _wrapped(result: Any) -> Any:
    if isinstance(result, (tuple, list)):
        return type(result)(wrap(part) for part in result)
    return wrap(result)


def _computed(name: str, *, wide: bool = False) -> Callable[..., Any]:
    compute = getattr(np, name)

    def function(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        values = [_operand(value) for value in args]
        named = {key: _operand(value) for key, value in kwargs.items()}
        inputs = _arrays((*values, *named.values()))
        half = wide and bool(inputs) and inputs[0].dtype in HALVES
        if half:
            values[0] = values[0].astype(np.float32)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            result = compute(*values, **named)
        if half:
            result = np.asarray(result).astype(inputs[0].dtype)
        traffic.count(inputs, _arrays([result]) or [np.asarray(result)])
        return _wrapped(result) if out is None else _into_out(out, result)

    function.__name__ = name
    return function


def _into_out(out: Any, result: Any) -> Any:
    if not isinstance(out, ndarray):
        raise TypeError("Output arguments type must be cupy.ndarray")
    backing(out)[...] = result
    memory.mark_written(backing(out))
    traffic.placed(np.asarray(result), backing(out))
    return out


def _made(name: str) -> Callable[..., Any]:
    compute = getattr(np, name)

    def function(*args: Any, **kwargs: Any) -> Any:
        result = compute(*args, **kwargs)
        traffic.count([], _arrays([result]))
        return _wrapped(result)

    return function


def _parts(name: str) -> Callable[..., Any]:
    compute = getattr(np, name)

    def function(ary: Any, *args: Any, **kwargs: Any) -> list[Any]:
        return [view(part) for part in compute(unwrap(ary), *args, **kwargs)]

    return function


def _into(name: str) -> Callable[..., None]:
    compute = getattr(np, name)

    def function(a: Any, *args: Any, **kwargs: Any) -> None:
        if not isinstance(a, ndarray):
            raise TypeError(f"Unsupported type {type(a)}")
        values = [_operand(value) for value in args]
        compute(backing(a), *values, **{key: _operand(value) for key, value in kwargs.items()})
        memory.mark_written(backing(a))
        traffic.count(_arrays(values), [backing(a)])

    return function


def _of_array(name: str) -> Callable[..., Any]:
    """Return a function that tells of an array without computing, such as its shape."""
    compute = getattr(np, name)

    def function(a: Any, *args: Any, **kwargs: Any) -> Any:
        return compute(_operand(a), *args, **kwargs)

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
    return tuple(wrap(part) for part in np.ix_(*(_operand(value) for value in args)))


class _Grid:
    """`mgrid` and `ogrid`: coordinates by slices."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def __getitem__(self, key: Any) -> Any:
        return _wrapped(self._source[key])


class _Joined:
    """`r_` and `c_`: arrays put together by indexing."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def __getitem__(self, key: Any) -> Any:
        result = self._source[_operand(key)]
        traffic.count(_arrays([key]), [result])
        return wrap(result)


FUNCTIONS: Final[dict[str, Any]] = {
    **{name: _computed(name) for name in _COMPUTED},
    **{name: _computed(name, wide=True) for name in _WIDE},
    **{name: _made(name) for name in _MADE},
    **{name: _parts(name) for name in _PARTS},
    **{name: _into(name) for name in _INTO},
    **{name: _of_array(name) for name in ("shape", "size", "ndim", "isfortran")},
    **{name: _of_array(name) for name in ("iscomplexobj", "isrealobj", "isscalar")},
    **{name: _of_array(name) for name in ("array_repr", "array_str", "array2string")},
    **{name: _of_array(name) for name in ("shares_memory", "may_share_memory")},
    "real": real,
    "imag": imag,
    "astype": astype,
    "ix_": ix_,
    "mgrid": _Grid(np.mgrid),
    "ogrid": _Grid(np.ogrid),
    "r_": _Joined(np.r_),
    "c_": _Joined(np.c_),
}
