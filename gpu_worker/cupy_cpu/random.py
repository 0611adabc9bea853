"""`cupy.random`: NumPy's generators, their numbers on the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import wrap
from .missing import missing

_NAMES = ("normal", "uniform", "randint", "permutation", "choice", "standard_normal", "random",
          "random_sample")  # fmt: skip
_state = np.random.RandomState()


def seed(seed: int | None = None) -> None:
    """Begin anew from a number."""
    _state.seed(seed)


def _drawing(name: str) -> Any:
    def function(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        made = np.asarray(getattr(_state, name)(*args, **kwargs))
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


class Generator:
    """NumPy's generator, with arrays on the device."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Any:
        draw = getattr(self._source, name)
        return lambda *args, **kwargs: wrap(np.asarray(draw(*args, **kwargs)))


def default_rng(seed: Any = None) -> Generator:
    """Return a generator of its own."""
    return Generator(np.random.default_rng(seed))


def __getattr__(name: str) -> Any:
    raise missing("random", name, globals())
