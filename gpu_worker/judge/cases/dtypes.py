"""Properties of dtypes, including bfloat16, which NumPy knows little about."""

from __future__ import annotations

import importlib
from typing import Any, Final

import numpy as np

BFLOAT16: Final = "bfloat16"


def named(name: str) -> np.dtype[Any]:
    """Return the dtype of a name as in case plans."""
    if name == BFLOAT16:
        # NumPy knows the name once ml_dtypes is imported.
        importlib.import_module("ml_dtypes")
    return np.dtype(name)


def is_floating(dtype: np.dtype[Any]) -> bool:
    """True for real floating dtypes; NumPy counts bfloat16 among those without a kind."""
    return dtype.kind == "f" or _is_bfloat16(dtype)


def is_half(dtype: np.dtype[Any]) -> bool:
    """True for float16 and bfloat16, in which sums must not be added up."""
    return dtype == np.float16 or _is_bfloat16(dtype)


def limits_of(dtype: np.dtype[Any]) -> Any:
    """Return `finfo` of a floating dtype."""
    if _is_bfloat16(dtype):
        return importlib.import_module("ml_dtypes").finfo(dtype)
    return np.finfo(dtype)


def _is_bfloat16(dtype: np.dtype[Any]) -> bool:
    # NumPy builds a dtype's name on each access, so the cheap test comes first.
    return dtype.kind == "V" and dtype.name == BFLOAT16
