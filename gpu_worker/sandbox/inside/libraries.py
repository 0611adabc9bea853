"""The array library of a track: what programs may import, what they get, and what they return."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from . import stand_in
from .building import Builder
from .script import RefusalError, arrange
from .wire import ArrayValue, Reason


class NumpyLibrary:
    """Plain NumPy arrays."""

    packages: ClassVar[frozenset[str]] = frozenset({"numpy", "submission"})
    offer = "NumPy and the standard library"
    left_out: ClassVar[Mapping[str, str]] = {}
    """Messages for packages that belong to the library and are not offered."""

    def arrange(self, value: ArrayValue) -> Any:
        """Return an input in its memory layout."""
        return arrange(value)

    def values_of(self, result: Any) -> Any:
        """Return a result as a NumPy array; NumPy scalars are arrays without dimensions.

        Raises:
            RefusalError: it is neither.
        """
        kind = type(result)
        if kind is not np.ndarray and not issubclass(kind, np.generic):
            raise RefusalError(Reason.NOT_AN_ARRAY, kind.__name__)
        return result if kind is np.ndarray else np.asarray(result)

    def poison(self, arrays: Sequence[Any]) -> None:
        """Leave nothing in free memory that a call could return for a result."""

    def check(self, result: Any) -> None:
        """Refuse what a call has done wrong beside its result."""

    def only_check_launches(self) -> None:
        """Run no kernel from now on: only see whether its launch would be taken."""

    def notes(self) -> dict[str, Any]:
        """Return what was counted and found since the last time, for information."""
        return {}


class CupyLibrary(NumpyLibrary):
    """The stand-in for CuPy, see `gpu_worker.cupy_cpu`."""

    packages = frozenset({"numpy", "cupy", "ml_dtypes", "submission"})
    offer = "CuPy, NumPy, ml_dtypes and the standard library"
    left_out = dict.fromkeys(
        ("cupyx", "cupy_backends"),
        "The package {} is a part of CuPy that is not offered here. Kernels are written as "
        "cupy.RawKernel, RawModule, ElementwiseKernel or ReductionKernel, and expressions are "
        "fused by cupy.fuse; of cupyx there is nothing, neither jit nor scipy.",
    )

    def __init__(self, builder: Builder) -> None:
        stand_in.show()
        self._cupy = importlib.import_module("cupy")
        self._host = importlib.import_module("cupy.host")
        self._host.connect(builder)
        self._runs_kernels = True

    def arrange(self, value: ArrayValue) -> Any:
        return self._host.to_device(arrange(value))

    def values_of(self, result: Any) -> Any:
        if type(result) is not self._cupy.ndarray:
            kind = type(result)
            name = "numpy.ndarray" if kind is np.ndarray else kind.__name__
            raise RefusalError(Reason.NOT_AN_ARRAY, name)
        return self._host.to_host(result)

    def only_check_launches(self) -> None:
        self._host.only_check_launches()
        self._runs_kernels = False

    def check(self, result: Any) -> None:
        # There are no notes on results that no kernel computed.
        kind = self._host.fault(result) if self._runs_kernels else ""
        if kind:
            raise RefusalError(Reason.KERNEL_FAULT, kind)

    def notes(self) -> dict[str, Any]:
        notes: dict[str, Any] = self._host.take_notes()
        return notes
