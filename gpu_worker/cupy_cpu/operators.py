"""The operators of arrays, `+`, `==` and the like, in terms of the package's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

_OPERATORS: Final = {
    **{"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide"},
    **{"floordiv": "floor_divide", "mod": "remainder", "pow": "power", "matmul": "matmul"},
    **{"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"},
    **{"lshift": "left_shift", "rshift": "right_shift"},
}
_COMPARISONS: Final = {
    **{"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal"},
    **{"gt": "greater", "ge": "greater_equal"},
}
_UNARY: Final = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}


def define(array: type, library: Callable[[], Any]) -> None:
    """Give a type of arrays the operators; `library` returns the package that computes them."""

    def forward(self: Any, other: Any, _name: str) -> Any:
        if getattr(other, "__array_ufunc__", ()) is None:
            return NotImplemented
        return getattr(library(), _name)(self, other)

    def reflected(self: Any, other: Any, _name: str) -> Any:
        return getattr(library(), _name)(other, self)

    def in_place(self: Any, other: Any, _name: str) -> Any:
        return getattr(library(), _name)(self, other, out=self)

    def unary(self: Any, _name: str) -> Any:
        return getattr(library(), _name)(self)

    for short, name in (*_OPERATORS.items(), *_COMPARISONS.items()):
        setattr(array, f"__{short}__", _bound(forward, name))
    for short, name in _OPERATORS.items():
        setattr(array, f"__r{short}__", _bound(reflected, name))
        setattr(array, f"__i{short}__", _bound(in_place, name))
    for short, name in _UNARY.items():
        setattr(array, f"__{short}__", _bound(unary, name))


def _bound(function: Any, name: str) -> Any:
    def method(*args: Any) -> Any:
        return function(*args, _name=name)

    return method
