"""Products of arrays. Halves are multiplied and summed in float32, as on a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from .array import unwrap
from .dtypes import HALVES
from .operands import operands, result

_NAMES: Final = ("matmul", "dot", "vdot", "inner", "tensordot", "kron", "cross")


def _product(name: str) -> Callable[..., Any]:
    compute = getattr(np, name)

    def function(a: Any, b: Any, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        left, right = unwrap(a), unwrap(b)
        more = operands(args, kwargs)
        return _finish(
            [left, right], _wide(compute, [left, right], *more.values, **more.named), out
        )

    return function


def einsum(subscripts: str, *operands: Any, out: Any = None, optimize: Any = False) -> Any:
    """Return a sum of products in the notation of Einstein."""
    values = [unwrap(operand) for operand in operands]
    return _finish(values, _wide(lambda *parts: np.einsum(subscripts, *parts), values), out)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    """Return the sum along a diagonal."""
    values = unwrap(a)
    return _finish([values], np.trace(values, offset, axis1, axis2, dtype), None)


def _wide(compute: Callable[..., Any], values: list[Any], *args: Any, **kwargs: Any) -> Any:
    dtype = np.result_type(*values)
    if dtype in HALVES:
        values = [value.astype(np.float32) for value in values]
    with np.errstate(all="ignore"):
        result = np.asarray(compute(*values, *args, **kwargs))
        return result.astype(dtype) if dtype in HALVES else result


def _finish(values: list[Any], computed: Any, out: Any) -> Any:
    return result([value for value in values if isinstance(value, np.ndarray)], computed, out)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **{name: _product(name) for name in _NAMES},
    "einsum": einsum,
    "trace": trace,
}
