"""Dtypes, limits of dtypes, and numbers under CuPy's names."""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np

from .array import library, ndarray
from .dtypes import BFLOAT16, NAMES


def finfo(dtype: Any) -> Any:
    """Return the limits of a floating dtype."""
    return ml_dtypes.finfo(dtype) if np.dtype(dtype) == BFLOAT16 else np.finfo(dtype)


def result_type(*arrays_and_dtypes: Any) -> Any:
    """Return the dtype that an operation on these would have."""
    return np.result_type(
        *(item._values if isinstance(item, ndarray) else item for item in arrays_and_dtypes)
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
    "newaxis": None,
    "pi": np.pi,
    "e": np.e,
    "inf": np.inf,
    "nan": np.nan,
}
METHODS: Final = (
    *("sum", "prod", "mean", "var", "std", "max", "min", "argmax", "argmin", "any", "all", "ptp"),
    *("cumsum", "cumprod", "clip", "dot", "take", "repeat", "diagonal", "trace", "nonzero"),
    *("conj", "argsort", "sort"),
)
"""Functions that arrays have as methods too."""
