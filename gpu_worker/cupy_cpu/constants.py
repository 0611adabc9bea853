"""Dtypes, limits of dtypes, and numbers under CuPy's names."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import ml_dtypes
import numpy as np

from .array import library, ndarray
from .dtypes import BFLOAT16, NAMES
from .pools import get_default_memory_pool, get_default_pinned_memory_pool


def finfo(dtype: Any) -> Any:
    """Return the limits of a floating dtype."""
    return ml_dtypes.finfo(dtype) if np.dtype(dtype) == BFLOAT16 else np.finfo(dtype)


def result_type(*arrays_and_dtypes: Any) -> Any:
    """Return the dtype that an operation on these would have."""
    return np.result_type(
        *(item.dtype if isinstance(item, ndarray) else item for item in arrays_and_dtypes)
    )


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Return whether a cast follows a rule."""
    source = from_.dtype if isinstance(from_, ndarray) else from_
    return np.can_cast(source, to, casting)


def get_array_module(*args: Any) -> Any:
    """Return this package if any argument is on the device, else NumPy."""
    on_device = any(isinstance(argument, ndarray) for argument in args)
    return library() if on_device else np


def is_available() -> bool:
    """Return whether arrays can be made: always."""
    return True


def common_type(*arrays: Any) -> Any:
    """Return the floating type that holds the values of all arrays."""
    kinds = [np.dtype(np.float64) if a.dtype.kind in "iu" else a.dtype for a in arrays]
    return functools.reduce(np.promote_types, kinds or [np.dtype(np.float16)]).type


_memoized: list[Any] = []


def memoize(for_each_device: bool = False) -> Callable[[Any], Any]:
    """Decorate a function so that it keeps its results by its arguments."""

    def decorate(function: Any) -> Any:
        _memoized.append(functools.cache(function))
        return _memoized[-1]

    return decorate


def clear_memo() -> None:
    """Forget what memoized functions keep."""
    for function in _memoized:
        function.cache_clear()


def show_config() -> None:
    """Say what this is."""
    import sys

    sys.stdout.write("CuPy CPU stand-in: arrays by NumPy, kernels on this processor, no device\n")


CONSTANTS: Final[dict[str, Any]] = {
    **{name: getattr(np, name) for name in NAMES},
    "bool": np.bool_,
    "dtype": np.dtype,
    "finfo": finfo,
    "iinfo": np.iinfo,
    "result_type": result_type,
    "promote_types": np.promote_types,
    "can_cast": can_cast,
    "get_array_module": get_array_module,
    "is_available": is_available,
    "show_config": show_config,
    "int_": np.int_,
    "uint": np.uint,
    "csingle": np.csingle,
    "cdouble": np.cdouble,
    "issubdtype": np.issubdtype,
    "isdtype": np.isdtype,
    "min_scalar_type": np.min_scalar_type,
    "broadcast_shapes": np.broadcast_shapes,
    "common_type": common_type,
    "memoize": memoize,
    "clear_memo": clear_memo,
    "get_default_memory_pool": get_default_memory_pool,
    "get_default_pinned_memory_pool": get_default_pinned_memory_pool,
    "set_printoptions": np.set_printoptions,
    "get_printoptions": np.get_printoptions,
    "printoptions": np.printoptions,
    "binary_repr": np.binary_repr,
    "base_repr": np.base_repr,
    "s_": np.s_,
    "index_exp": np.index_exp,
    "euler_gamma": np.euler_gamma,
    "newaxis": None,
    "pi": np.pi,
    "e": np.e,
    "inf": np.inf,
    "nan": np.nan,
}
METHODS: Final = (
    *("sum", "prod", "mean", "var", "std", "max", "min", "argmax", "argmin", "any", "all", "ptp"),
    *("cumsum", "cumprod", "clip", "dot", "take", "repeat", "diagonal", "trace", "nonzero"),
    *("conj", "conjugate", "argsort", "argpartition", "searchsorted", "round", "choose"),
    *("compress", "put"),
)
"""Functions that arrays have as methods too."""
