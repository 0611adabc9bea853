"""`cupy.linalg`: norms and the usual decompositions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import unwrap
from .dtypes import HALVES
from .missing import missing
from .operands import operands, result

_NAMES = ("det", "inv", "pinv", "solve", "lstsq", "cholesky", "qr", "svd", "eigh", "eigvalsh",
          "matrix_power", "matrix_rank", "slogdet")  # fmt: skip
LinAlgError = np.linalg.LinAlgError


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the norm of vectors or matrices along axes."""
    values = unwrap(x)
    wide = values.astype(np.float32) if values.dtype in HALVES else values
    with np.errstate(all="ignore"):
        made = np.asarray(np.linalg.norm(wide, ord, axis, keepdims))
    return result([values], made.astype(values.dtype) if values.dtype in HALVES else made)


def _decomposition(name: str) -> Any:
    compute = getattr(np.linalg, name)

    def function(a: Any, *args: Any, **kwargs: Any) -> Any:
        given = operands((a, *args), kwargs)
        return result(given.arrays, compute(*given.values, **given.named))

    return function


for _name in _NAMES:
    globals()[_name] = _decomposition(_name)


def __getattr__(name: str) -> Any:
    raise missing("linalg", name, globals())
