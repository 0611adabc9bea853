"""`cupy.linalg`: norms and the usual decompositions."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import traffic
from .array import unwrap, wrap
from .dtypes import HALVES
from .missing import missing

_NAMES = ("det", "inv", "pinv", "solve", "lstsq", "cholesky", "qr", "svd", "eigh", "eigvalsh",
          "matrix_power", "matrix_rank", "slogdet")  # fmt: skip
LinAlgError = np.linalg.LinAlgError


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the norm of vectors or matrices along axes."""
    values = unwrap(x)
    wide = values.astype(np.float32) if values.dtype in HALVES else values
    with np.errstate(all="ignore"):
        result = np.asarray(np.linalg.norm(wide, ord, axis, keepdims))
    result = result.astype(values.dtype) if values.dtype in HALVES else result
    traffic.count([values], [result])
    return wrap(result)


def _decomposition(name: str) -> Any:
    compute = getattr(np.linalg, name)

    def function(a: Any, *args: Any, **kwargs: Any) -> Any:
        values = [unwrap(part) for part in (a, *args)]
        result = compute(*values, **kwargs)
        parts = list(result) if isinstance(result, tuple) else [result]
        inputs = [value for value in values if isinstance(value, np.ndarray)]
        traffic.count(inputs, [np.asarray(part) for part in parts])
        return tuple(wrap(p) for p in parts) if isinstance(result, tuple) else wrap(result)

    return function


for _name in _NAMES:
    globals()[_name] = _decomposition(_name)


def __getattr__(name: str) -> Any:
    raise missing("linalg", name, globals())
