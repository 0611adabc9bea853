"""Making arrays, and moving them between host and device."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from . import traffic
from .array import backing, ndarray, unwrap, unwrap_deep, wrap


def array(
    obj: Any, dtype: Any = None, copy: bool = True, order: str = "K", subok: bool = False,
    ndmin: int = 0, *, blocking: bool = False,
) -> Any:  # fmt: skip
    """Return a new array on the device: of a NumPy array, a `cupy.ndarray`, numbers or lists."""
    source = unwrap_deep(obj)
    made = np.array(source, dtype=dtype, copy=copy or None, order=order, ndmin=ndmin)  # type: ignore[call-overload]
    if made.dtype == object:
        raise ValueError(f"Unsupported dtype {made.dtype}")
    if isinstance(obj, ndarray):
        if made is backing(obj):
            return obj
        traffic.count([backing(obj)], [made])
    else:
        traffic.count_transfer(made.nbytes)
    return wrap(made)


def asarray(a: Any, dtype: Any = None, order: Any = None, *, blocking: bool = False) -> Any:
    """Return the array on the device: itself, if it is there in that dtype already."""
    if isinstance(a, ndarray) and order in (None, "K", "A"):
        return a if dtype is None or a.dtype == np.dtype(dtype) else a.astype(dtype)
    # NumPy arrays are in host memory, so they are always copied.
    return array(a, dtype=dtype, copy=not isinstance(a, ndarray), order=order or "K")


def ascontiguousarray(a: Any, dtype: Any = None) -> Any:
    """Return the array in C order: itself, if it lies so already."""
    if not isinstance(a, ndarray):
        return array(a, dtype=dtype, order="C")
    made = np.ascontiguousarray(backing(a), dtype=dtype)
    if made is backing(a):
        return a
    traffic.count([backing(a)], [made])
    return wrap(made)


def asfortranarray(a: Any, dtype: Any = None) -> Any:
    """Return the array in Fortran order."""
    made = np.asfortranarray(unwrap(a), dtype=dtype)
    traffic.count([unwrap(a)], [made])
    return wrap(made)


def copy(a: Any, order: str = "K") -> Any:
    """Return a copy."""
    return a.copy(order)


def asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, *,
            blocking: bool = True) -> Any:  # fmt: skip
    """Return the values as a NumPy array."""
    return a.get(order=order, out=out) if isinstance(a, ndarray) else np.asarray(a, order=order)  # type: ignore[call-overload]


def empty(shape: Any, dtype: Any = float, order: str = "C") -> Any:
    """Return an array with whatever its memory held."""
    return ndarray(shape, dtype, order=order)


def zeros(shape: Any, dtype: Any = float, order: str = "C") -> Any:
    """Return an array of zeros."""
    return _filled(np.zeros(shape, dtype, order=order))  # type: ignore[call-overload]


def ones(shape: Any, dtype: Any = float, order: str = "C") -> Any:
    """Return an array of ones."""
    return _filled(np.ones(shape, dtype, order=order))  # type: ignore[call-overload]


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> Any:
    """Return an array of one value."""
    value = unwrap(fill_value)
    return _filled(np.full(shape, value, dtype, order=order), value)  # type: ignore[call-overload]


def empty_like(prototype: Any, dtype: Any = None, order: str = "K", subok: Any = None,
               shape: Any = None) -> Any:  # fmt: skip
    """Return an array like another, with whatever its memory held."""
    like = np.empty_like(unwrap(prototype), dtype, order, shape=shape)  # type: ignore[call-overload]
    fortran = like.flags.f_contiguous and not like.flags.c_contiguous
    return ndarray(like.shape, like.dtype, order="F" if fortran else "C")


def zeros_like(a: Any, dtype: Any = None, order: str = "K", subok: Any = None,
               shape: Any = None) -> Any:  # fmt: skip
    """Return zeros like another array."""
    return _filled(np.zeros_like(unwrap(a), dtype, order, shape=shape))  # type: ignore[call-overload]


def ones_like(a: Any, dtype: Any = None, order: str = "K", subok: Any = None,
              shape: Any = None) -> Any:  # fmt: skip
    """Return ones like another array."""
    return _filled(np.ones_like(unwrap(a), dtype, order, shape=shape))  # type: ignore[call-overload]


def full_like(a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: Any = None,
              shape: Any = None) -> Any:  # fmt: skip
    """Return one value, in an array like another."""
    value = unwrap(fill_value)
    return _filled(np.full_like(unwrap(a), value, dtype, order, shape=shape), value)  # type: ignore[call-overload]


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    """Return evenly spaced values from start up to stop."""
    low: Any = 0 if stop is None else start
    high: Any = start if stop is None else stop
    return _filled(np.arange(low, high, step, dtype))  # type: ignore[call-overload]


def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None) -> Any:
    """Return `num` evenly spaced values between two numbers, or between the elements of arrays."""
    ends = unwrap(start), unwrap(stop)
    return _filled(np.linspace(*ends, num, endpoint, dtype=dtype), *ends)


def eye(N: int, M: Any = None, k: int = 0, dtype: Any = float, order: str = "C") -> Any:
    """Return ones on a diagonal, zeros elsewhere."""
    return _filled(np.eye(N, M, k, dtype, order=order))  # type: ignore[call-overload]


def identity(n: int, dtype: Any = float) -> Any:
    """Return the identity matrix."""
    return eye(n, dtype=dtype)


def _filled(values: Any, *given: Any) -> Any:
    """Return new values on the device, made from what is given: arrays are read, numbers not."""
    traffic.count([value for value in given if isinstance(value, np.ndarray)], [values])
    return wrap(values)


FUNCTIONS: Final[dict[str, Any]] = {
    function.__name__: function
    for function in (
        *(array, asarray, ascontiguousarray, asfortranarray, copy, asnumpy, empty, zeros, ones),
        *(full, empty_like, zeros_like, ones_like, full_like, arange, linspace, eye, identity),
    )
} | {"asanyarray": asarray}
