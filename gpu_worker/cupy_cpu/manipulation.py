"""Other views of arrays, and arrays put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from . import memory, traffic
from .array import backing, unwrap, unwrap_deep, view, wrap

_VIEWS: Final = (
    *("transpose", "swapaxes", "moveaxis", "rollaxis", "squeeze", "expand_dims", "broadcast_to"),
    *("flip", "fliplr", "flipud", "diagonal", "rot90"),
)
_COPIES: Final = ("roll", "tile", "repeat", "take", "take_along_axis", "sort", "argsort", "diag",
                  "tril", "triu", "diff", "outer", "compress", "unique")  # fmt: skip
_JOINS: Final = ("concatenate", "stack", "vstack", "hstack", "dstack", "column_stack")


def _view(name: str) -> Callable[..., Any]:
    compute = getattr(np, name)

    def function(a: Any, *args: Any, **kwargs: Any) -> Any:
        return view(compute(unwrap(a), *args, **kwargs))

    return function


def _copy(name: str) -> Callable[..., Any]:
    compute = getattr(np, name)

    def function(a: Any, *args: Any, **kwargs: Any) -> Any:
        others = [unwrap_deep(argument) for argument in args]
        named = {key: unwrap_deep(argument) for key, argument in kwargs.items()}
        values = unwrap(a)
        with np.errstate(all="ignore"):
            result = compute(values, *others, **named)
        inputs = [v for v in (values, *others, *named.values()) if isinstance(v, np.ndarray)]
        if isinstance(result, tuple):
            traffic.count(inputs, list(result))
            return tuple(wrap(part) for part in result)
        traffic.count(inputs, [result])
        return wrap(result)

    return function


def _join(name: str) -> Callable[..., Any]:
    compute = getattr(np, name)

    def function(arrays: Any, axis: int = 0, out: Any = None, dtype: Any = None) -> Any:
        values = [unwrap(part) for part in arrays]
        result = compute(values, axis=axis) if name in ("concatenate", "stack") else compute(values)
        result = result if dtype is None else result.astype(dtype)
        traffic.count(values, [result])
        if out is None:
            return wrap(result)
        backing(out)[...] = result
        memory.mark_written(backing(out))
        return out

    return function


def reshape(a: Any, newshape: Any, order: str = "C") -> Any:
    """Return the array in another shape: a view where memory allows it."""
    return a.reshape(newshape, order=order)


def ravel(a: Any, order: str = "C") -> Any:
    """Return the array with one axis: a view where memory allows it."""
    return a.ravel(order)


def broadcast_arrays(*args: Any) -> list[Any]:
    """Return views of one shape."""
    return [view(part) for part in np.broadcast_arrays(*(unwrap(a) for a in args))]


def _at_least(name: str) -> Callable[..., Any]:
    compute = getattr(np, name)

    def function(*arrays: Any) -> Any:
        made = [view(compute(unwrap(a))) for a in arrays]
        return made[0] if len(made) == 1 else made

    return function


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Return views of the parts of an array."""
    return [view(part) for part in np.split(unwrap(ary), indices_or_sections, axis)]


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = None) -> None:
    """Copy values from one array to another."""
    values = unwrap(src)
    extra = {} if where is None else {"where": unwrap(where)}
    np.copyto(backing(dst), values, casting=casting, **extra)
    memory.mark_written(backing(dst))
    traffic.count([values] if isinstance(values, np.ndarray) else [], [backing(dst)])


def nonzero(a: Any) -> tuple[Any, ...]:
    """Return the indices of elements that are not zero."""
    return tuple(wrap(part) for part in np.nonzero(unwrap(a)))


def meshgrid(*xi: Any, **kwargs: Any) -> list[Any]:
    """Return coordinate matrices of coordinate vectors."""
    return [wrap(part) for part in np.meshgrid(*(unwrap(x) for x in xi), **kwargs)]


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **{name: _view(name) for name in _VIEWS},
    **{name: _copy(name) for name in _COPIES},
    **{name: _join(name) for name in _JOINS},
    **{name: _at_least(name) for name in ("atleast_1d", "atleast_2d", "atleast_3d")},
    "concat": _join("concatenate"),
    "row_stack": _join("vstack"),
    "permute_dims": _view("transpose"),
    "matrix_transpose": _view("matrix_transpose"),
    "reshape": reshape,
    "ravel": ravel,
    "broadcast_arrays": broadcast_arrays,
    "split": split,
    "copyto": copyto,
    "nonzero": nonzero,
    "flatnonzero": lambda a: nonzero(a.ravel())[0],
    "meshgrid": meshgrid,
}
