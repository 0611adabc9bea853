"""Element-wise functions: NumPy computes, one kernel is counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from . import memory, traffic
from .array import backing, library, ndarray, unwrap, wrap
from .missing import missing

NAMES: Final = (
    *("add", "subtract", "multiply", "divide", "true_divide", "floor_divide", "remainder", "mod"),
    *("fmod", "power", "float_power", "negative", "positive", "absolute", "sign", "square"),
    *("sqrt", "cbrt", "reciprocal", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p"),
    *("logaddexp", "logaddexp2", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2"),
    *("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "hypot", "deg2rad", "rad2deg"),
    *("maximum", "minimum", "fmax", "fmin", "floor", "ceil", "trunc", "rint", "fabs", "copysign"),
    *("ldexp", "nextafter", "signbit", "isnan", "isinf", "isfinite", "equal", "not_equal"),
    *("less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or"),
    *("logical_not", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "invert"),
    *("left_shift", "right_shift", "conjugate", "radians", "degrees", "modf", "frexp", "divmod"),
    *("heaviside", "gcd", "lcm", "bitwise_count"),
)

_SHORT: Final = {
    **{"acos": "arccos", "asin": "arcsin", "atan": "arctan", "atan2": "arctan2"},
    **{"acosh": "arccosh", "asinh": "arcsinh", "atanh": "arctanh", "pow": "power"},
    **{"bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift"},
    "bitwise_invert": "invert",
}
_REDUCTIONS: Final = {
    **{"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"},
    **{"logical_and": "all", "logical_or": "any"},
}


class ufunc:
    """An element-wise function. Arrays are broadcast; scalars take part by their type."""

    def __init__(self, name: str, compute: Callable[..., Any]) -> None:
        self.__name__ = self.name = f"cupy_{name}"
        self._compute = compute
        self.nin = getattr(compute, "nin", 1)
        self.nout = getattr(compute, "nout", 1)

    def __repr__(self) -> str:
        return f"<ufunc '{self.name}'>"

    def __call__(self, *args: Any, out: Any = None, dtype: Any = None, **kwargs: Any) -> Any:
        values = [unwrap(argument) for argument in args]
        inputs = [value for value in values if isinstance(value, np.ndarray)]
        options: dict[str, Any] = {} if dtype is None else {"dtype": dtype}
        if kwargs.pop("casting", "same_kind") != "same_kind":
            options["casting"] = "unsafe"
        if kwargs:
            raise TypeError(f"Wrong arguments {', '.join(kwargs)}")
        if out is not None:
            options["out"] = _output(out)
        with np.errstate(all="ignore"):
            result = self._compute(*values, **options)
        if isinstance(result, tuple):
            traffic.count(inputs, list(result), fusible=True)
            return tuple(wrap(part) for part in result) if out is None else out
        result = np.asarray(result)
        traffic.count(inputs, [result], fusible=True)
        return wrap(result) if out is None else out

    def reduce(self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None,
               keepdims: bool = False) -> Any:  # fmt: skip
        """Return the reduction that CuPy has for it, such as `sum` for `add`, along an axis."""
        name = _REDUCTIONS.get(self.name.removeprefix("cupy_"))
        if name is None:
            raise missing(self.name, "reduce", dir(type(self)))
        given = {"dtype": dtype} if name in ("sum", "prod") else {}
        return getattr(library(), name)(array, axis=axis, out=out, keepdims=keepdims, **given)

    def outer(self, left: Any, right: Any) -> Any:
        """Return the function of each pair of elements."""
        return self(left.reshape(*left.shape, *(1,) * right.ndim), right)

    def __getattr__(self, name: str) -> Any:
        raise missing("ufunc", name, dir(ufunc))


def _output(out: Any) -> Any:
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if not isinstance(out, ndarray):
        raise TypeError("Output arguments type must be cupy.ndarray")
    memory.mark_written(backing(out))
    return backing(out)


FUNCTIONS: Final[dict[str, Any]] = {
    **{name: ufunc(name, getattr(np, name)) for name in NAMES},
    **{short: ufunc(name, getattr(np, name)) for short, name in _SHORT.items()},
    "abs": ufunc("absolute", np.absolute),
    "conj": ufunc("conjugate", np.conjugate),
    "bitwise_not": ufunc("invert", np.invert),
}


def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None) -> Any:
    """Return the values held between two bounds; None leaves one out."""
    bounds: list[Any] = [None if bound is None else unwrap(bound) for bound in (a_min, a_max)]
    values = unwrap(a)
    with np.errstate(all="ignore"):
        target: Any = None if out is None else _output(out)
        result: Any = np.clip(values, *bounds, target)  # type: ignore[call-overload]
    traffic.count(
        [value for value in (values, *bounds) if isinstance(value, np.ndarray)],
        [np.asarray(result)],
        fusible=True,
    )
    return wrap(result) if out is None else out


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Return elements of x where the condition holds, of y elsewhere; without both, indices."""
    if (x is None) != (y is None):
        raise ValueError("Must provide both 'x' and 'y' or neither.")
    if x is None:
        return tuple(library().nonzero(condition))
    values = [unwrap(part) for part in (condition, x, y)]
    result = np.where(*values)
    read = [value for value in values if isinstance(value, np.ndarray)]
    traffic.count(read, [result], fusible=True)
    return wrap(result)
