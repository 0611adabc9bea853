"""CuPy itself, on a device, as a run's array library."""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..libraries import NumpyLibrary
from ..script import RefusalError, arrange
from ..wire import ArrayValue, Reason

KERNELS: Final = "/learnml/kernels"
"""Where a runner finds kernels that were compiled ahead, and can only read them."""
MOST_KERNELS: Final = 700
"""The run's own folder holds some more files than these."""


_POISONED: Final = 3
"""Blocks of each size: a call may have freed some."""
_NAN: Final = 0xFF
"""Bytes of this value are NaN in every floating dtype."""


class DeviceLibrary(NumpyLibrary):
    """CuPy's arrays on the one device that this process has.

    What is called here is looked up before the learner's code runs. That protects nothing: his
    code runs in this process. It keeps an honest program's changes out of the way.
    """

    # The last ones are CuPy's own, imported on demand.
    packages = frozenset(
        {"numpy", "cupy", "ml_dtypes", "submission"}
        | {"cupyx", "cupy_backends", "cuda", "nvidia", "fastrlock"}
    )
    offer = "CuPy, NumPy, ml_dtypes and the standard library"

    def __init__(self) -> None:
        self.cupy = importlib.import_module("cupy")
        self._type = self.cupy.ndarray
        self._fetch = self.cupy.asnumpy
        self._synchronize = self.cupy.cuda.runtime.deviceSynchronize

    def synchronize(self) -> None:
        """Wait for all of the device's work, of every stream.

        Raises:
            Exception: CuPy's error for work that failed; it stays with this process.
        """
        self._synchronize()

    def arrange(self, value: ArrayValue) -> Any:
        """Return an input on the device, in its memory layout."""
        return laid_out(self.cupy, arrange(value))

    def poison(self, arrays: Sequence[Any]) -> None:
        """Fill free memory of the sizes of these arrays, so that what is not written is NaN.

        Memory that is freed keeps what was in it, and the next array of its size gets it.
        """
        sizes = {int(array.nbytes) for array in arrays} - {0}
        blocks = [self.cupy.empty(size, np.uint8) for size in sizes for _ in range(_POISONED)]
        for block in blocks:
            block.data.memset(_NAN, block.nbytes)

    def check_type(self, result: Any) -> None:
        """Refuse what is no array of CuPy's own type.

        Raises:
            RefusalError: it is not.
        """
        kind = type(result)
        if kind is not self._type:
            name = "numpy.ndarray" if kind is np.ndarray else kind.__name__
            raise RefusalError(Reason.NOT_AN_ARRAY, name)

    def values_of(self, result: Any) -> Any:
        """Return a copy of a result as a NumPy array, once all work is done."""
        self.check_type(result)
        self.synchronize()
        return self._fetch(result)

    def fetch_into(self, result: Any, room: Any) -> None:
        """Copy a result into a contiguous NumPy array of its dtype and shape."""
        self.synchronize()
        self._fetch(result, out=room)

    def check(self, result: Any) -> None:
        """Meet the errors of a call in that call: a launch that fails says so later."""
        self.synchronize()


def take_kernels(source: str, target: str) -> int:
    """Copy the kernels that were compiled ahead to where CuPy looks for them; return how many."""
    if not (target and os.path.isdir(source)):
        return 0
    names = sorted(os.listdir(source))[:MOST_KERNELS]
    for name in names:
        shutil.copyfile(f"{source}/{name}", f"{target}/{name}")
    return len(names)


def laid_out(cupy: Any, values: Any) -> Any:
    """Return a NumPy array on the device with its strides and with what lies between them."""
    owner = values
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if not values.size or any(step < 0 for step in owner.strides):
        return cupy.asarray(values)
    raw = np.frombuffer(owner.ravel(order="K").tobytes(), np.uint8)
    if raw.nbytes != owner.nbytes:
        return cupy.asarray(values)
    block = cupy.asarray(raw)
    offset = _address(values) - _address(owner)
    return cupy.ndarray(values.shape, values.dtype, block.data + offset, strides=values.strides)


def _address(values: Any) -> int:
    return int(values.__array_interface__["data"][0])
