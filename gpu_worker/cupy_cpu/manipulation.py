"""Reshaping, transposing and joining arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from . import memory, traffic
from .array import backing, ndarray, unwrap, view
from .creation import asarray
from .operands import operands, result

_VIEWS: Final = (
    *("transpose", "swapaxes", "moveaxis", "rollaxis", "squeeze", "expand_dims", "broadcast_to"),
    *("flip", "fliplr", "flipud", "diagonal", "rot90"),
)
_COPIES: Final = ("roll", "tile", "repeat", "take_along_axis", "sort", "argsort", "diag",
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
        unwrap(a)
        given = operands([a, *args], kwargs)
        with np.errstate(all="ignore"):
            computed = compute(*given.values, **given.named)
        return result(given.arrays, computed)

    return function


def take(a: Any, indices: Any, axis: Any = None, out: Any = None) -> Any:
    """Return the elements or rows at the indices: what is taken is read, and no more."""
    if isinstance(indices, (list, tuple, np.ndarray)):
        indices = asarray(indices)
    places = unwrap(indices)
    taken = np.take(unwrap(a), places, axis)
    read = [taken, places] if isinstance(places, np.ndarray) else [taken]
    return result(read, taken, out)


def _join(name: str) -> Callable[..., Any]:
    compute = getattr(np, name)

    def function(arrays: Any, axis: int = 0, out: Any = None, dtype: Any = None) -> Any:
        values = [_on_device(part) for part in arrays]
        joined = compute(values, axis=axis) if name in ("concatenate", "stack") else compute(values)
        return result(values, joined if dtype is None else joined.astype(dtype), out)

    return function


def _on_device(part: Any) -> Any:
    if not isinstance(part, ndarray):
        raise TypeError(f"Unsupported type {type(part)}: only cupy arrays are joined")
    return backing(part)


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
    """Copy values from one array to another, or where a mask holds."""
    if not isinstance(dst, ndarray):
        raise TypeError(f"Unsupported type {type(dst)}")
    target, values = backing(dst), unwrap(src)
    read = [values] if isinstance(values, np.ndarray) else []
    if where is None:
        np.copyto(target, values, casting=casting)
        memory.mark_written(target)
        traffic.count(read, [target], fusible=True)
        return
    mask = np.broadcast_to(unwrap(where), target.shape)
    np.copyto(target, values, casting=casting, where=mask)
    memory.mark_written(target, mask)
    traffic.count([*read, mask], [target[mask]], fusible=True)


def nonzero(a: Any) -> tuple[Any, ...]:
    """Return the indices of elements that are not zero."""
    places: tuple[Any, ...] = result([unwrap(a)], np.nonzero(unwrap(a)))
    return places


def meshgrid(*xi: Any, **kwargs: Any) -> list[Any]:
    """Return coordinate matrices of coordinate vectors."""
    values = [unwrap(x) for x in xi]
    read = [value for value in values if isinstance(value, np.ndarray)]
    return list(result(read, np.meshgrid(*values, **kwargs)))


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
    "take": take,
    "copyto": copyto,
    "nonzero": nonzero,
    "flatnonzero": lambda a: nonzero(a.ravel())[0],
    "meshgrid": meshgrid,
}
