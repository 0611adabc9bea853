"""Dtypes: NumPy's own, and bfloat16 from ml_dtypes."""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np

BFLOAT16: Final = np.dtype(ml_dtypes.bfloat16)
HALVES: Final = frozenset({np.dtype(np.float16), BFLOAT16})
"""Dtypes of two bytes, whose sums CuPy accumulates in float32."""

FLOATING: Final = (
    *(np.dtype(np.float32), np.dtype(np.float16)),
    *(BFLOAT16, np.dtype(np.float64)),
)

NAMES: Final = (
    *("bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128", "intp", "uintp"),
    *("byte", "ubyte", "short", "ushort", "intc", "uintc", "longlong", "ulonglong"),
    *("half", "single", "double", "generic", "number", "integer", "signedinteger"),
    *("unsignedinteger", "inexact", "floating", "complexfloating"),
)

C_NAMES: Final = {
    np.dtype(np.bool_): "bool",
    np.dtype(np.int8): "signed char",
    np.dtype(np.int16): "short",
    np.dtype(np.int32): "int",
    np.dtype(np.int64): "long long",
    np.dtype(np.uint8): "unsigned char",
    np.dtype(np.uint16): "unsigned short",
    np.dtype(np.uint32): "unsigned int",
    np.dtype(np.uint64): "unsigned long long",
    np.dtype(np.float16): "float16",
    np.dtype(np.float32): "float",
    np.dtype(np.float64): "double",
    BFLOAT16: "bfloat16",
}
"""What ElementwiseKernel and ReductionKernel call a dtype in the CUDA source they write."""


def accumulator(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which CuPy adds up values of a dtype: float32 for the halves."""
    return np.dtype(np.float32) if dtype in HALVES else dtype


def is_floating(dtype: np.dtype[Any]) -> bool:
    """True for float16, bfloat16, float32 and float64; NumPy knows no kind for bfloat16."""
    return dtype.kind == "f" or dtype == BFLOAT16
