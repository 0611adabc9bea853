"""A stand-in for CuPy on machines without a GPU: `import cupy` in submissions of that track.

Arrays live in this process's memory and NumPy computes them; kernels written in CUDA C++ are built
by `gpu_worker.cuda_cpu` and run by the executor. What CuPy refuses is refused here too. Nothing is
timed: the bytes that a program would move through a device's memory are counted, see `traffic`.
"""

from __future__ import annotations

from typing import Any as _Any

from . import cuda, linalg, random
from .array import define_methods as _define_methods
from .array import ndarray
from .constants import CONSTANTS as _CONSTANTS
from .constants import METHODS as _METHODS
from .creation import FUNCTIONS as _CREATION
from .elementwise import ElementwiseKernel
from .fusion import fuse
from .manipulation import FUNCTIONS as _MANIPULATION
from .missing import missing as _missing
from .numeric import FUNCTIONS as _NUMERIC
from .products import FUNCTIONS as _PRODUCTS
from .raw import RawKernel, RawModule
from .reduction import ReductionKernel
from .reductions import FUNCTIONS as _REDUCTIONS
from .ufuncs import FUNCTIONS as _UFUNCS
from .ufuncs import clip, ufunc, where

__version__ = "14.2.0+cpu.stand.in"
"""The version whose behaviour it follows, and what it is."""

__all__ = [
    "ElementwiseKernel",
    "RawKernel",
    "RawModule",
    "ReductionKernel",
    "cuda",
    "linalg",
    "random",
    "clip",
    "fuse",
    "ndarray",
    "ufunc",
    "where",
]

for _names in (_CONSTANTS, _CREATION, _MANIPULATION, _NUMERIC, _PRODUCTS, _REDUCTIONS, _UFUNCS):
    globals().update(_names)
_define_methods(_METHODS)


def __getattr__(name: str) -> _Any:
    raise _missing("cupy", name, globals())
