"""`cupy.random`: NumPy's generators, their numbers on the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import backing, ndarray, unwrap_deep, wrap
from .missing import missing

_NAMES = ("normal", "uniform", "randint", "permutation", "choice", "standard_normal", "random",
          "random_sample", "ranf", "sample", "standard_gamma", "gamma", "beta", "binomial",
          "exponential", "poisson", "laplace", "lognormal", "logistic", "geometric")  # fmt: skip
_state = np.random.RandomState()


def seed(seed: int | None = None) -> None:
    """Begin anew from a number."""
    _state.seed(seed)


def _drawing(name: str) -> Any:
    def function(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        given = [unwrap_deep(argument) for argument in args]
        made = np.asarray(getattr(_state, name)(*given, **kwargs))
        return wrap(made if dtype is None else made.astype(dtype))

    return function


for _name in _NAMES:
    globals()[_name] = _drawing(_name)


def rand(*shape: int, dtype: Any = float) -> Any:
    """Return numbers between 0 and 1."""
    return wrap(np.asarray(_state.random_sample(shape)).astype(dtype))


def randn(*shape: int, dtype: Any = float) -> Any:
    """Return numbers of the standard normal distribution."""
    return wrap(np.asarray(_state.standard_normal(shape)).astype(dtype))


def shuffle(a: Any) -> None:
    """Bring an array's rows into another order."""
    if not isinstance(a, ndarray):
        raise TypeError(f"Unsupported type {type(a)}")
    a[...] = wrap(_state.permutation(backing(a)))


class Generator:
    """NumPy's generator, with arrays on the device."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Any:
        draw = getattr(self._source, name)
        if not callable(draw):
            raise missing("random.Generator", name, dir(self._source))
        return lambda *args, **kwargs: wrap(
            np.asarray(draw(*(unwrap_deep(argument) for argument in args), **kwargs))
        )


def default_rng(seed: Any = None) -> Generator:
    """Return a generator of its own."""
    return Generator(np.random.default_rng(seed))


def RandomState(seed: Any = None) -> Generator:
    """Return a generator of its own, with the names of NumPy's older one."""
    return Generator(np.random.RandomState(seed))


def __getattr__(name: str) -> Any:
    raise missing("random", name, globals())
