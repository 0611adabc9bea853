"""`cupy.random`: NumPy's generators, with their numbers moved to the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import ndarray
from .missing import missing
from .operands import operands, result

_NAMES = ("normal", "uniform", "randint", "permutation", "choice", "standard_normal", "random",
          "random_sample", "ranf", "sample", "standard_gamma", "gamma", "beta", "binomial",
          "exponential", "poisson", "laplace", "lognormal", "logistic", "geometric")  # fmt: skip
_OF_GENERATORS = ("integers", "rand", "randn")
_state = np.random.RandomState()


def seed(seed: int | None = None) -> None:
    """Begin anew from a number."""
    _state.seed(seed)


def _drawn(draw: Any, args: Any, dtype: Any, named: Any) -> Any:
    """Return numbers by chance. Parameters are numbers, arrays of the device, or a size.

    Raises:
        TypeError: a list that is no size.
    """
    given = operands(args, named)
    made = np.asarray(draw(*given.values, **given.named))
    for value in (*given.values, *given.named.values()):
        if isinstance(value, (list, tuple)) and tuple(value) != made.shape[: len(value)]:
            raise TypeError(f"Unsupported type {type(value)}: lists are no parameters of numbers")
    return result(given.arrays, made if dtype is None else made.astype(dtype))


def _drawing(name: str) -> Any:
    def function(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        return _drawn(getattr(_state, name), args, dtype, kwargs)

    return function


for _name in _NAMES:
    globals()[_name] = _drawing(_name)


def rand(*shape: int, dtype: Any = float) -> Any:
    """Return numbers between 0 and 1."""
    return _drawn(_state.random_sample, (shape,), dtype, {})


def randn(*shape: int, dtype: Any = float) -> Any:
    """Return numbers of the standard normal distribution."""
    return _drawn(_state.standard_normal, (shape,), dtype, {})


def shuffle(a: Any) -> None:
    """Bring an array's rows into another order."""
    if not isinstance(a, ndarray):
        raise TypeError(f"Unsupported type {type(a)}")
    a[...] = _drawn(_state.permutation, (a,), None, {})


class Generator:
    """NumPy's generator, with arrays on the device."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Any:
        if name not in (*_NAMES, *_OF_GENERATORS) or not hasattr(self._source, name):
            raise missing("random.Generator", name, (*_NAMES, *_OF_GENERATORS))
        return lambda *args, **kwargs: _drawn(getattr(self._source, name), args, None, kwargs)


def default_rng(seed: Any = None) -> Generator:
    """Return a generator of its own."""
    return Generator(np.random.default_rng(seed))


def RandomState(seed: Any = None) -> Generator:
    """Return an independent generator, with the names of NumPy's older one."""
    return Generator(np.random.RandomState(seed))


def __getattr__(name: str) -> Any:
    raise missing("random", name, globals())
