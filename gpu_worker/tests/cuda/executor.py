"""The executor for tests: arrays in its memory, kernels from source, launches in three orders."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_worker.cuda_cpu import CompileError, compile_source
from gpu_worker.cupy_cpu.executor import (
    Allocation,
    Diagnostic,
    Kernel,
    LaunchError,
    LaunchReport,
    Memory,
    Module,
    Pointer,
)
from gpu_worker.cupy_cpu.executor.report import ORDERS

KERNEL = 'extern "C" __global__ void f(int *p) { p[0] = VALUE; }\n'
"""A source to compile with VALUE replaced."""


def refused(source: str, *, options: tuple[str, ...] = (), names: tuple[str, ...] = ()) -> str:
    """Return the error message of a source that must not compile."""
    with pytest.raises(CompileError) as caught:
        compile_source(source, options, names)
    return str(caught.value)


def source(name: str) -> str:
    """Return one of the CUDA sources beside these tests."""
    return Path(__file__).with_name("sources").joinpath(f"{name}.cu").read_text(encoding="utf-8")


def module(source: str, names: tuple[str, ...] = ()) -> Module:
    """Compile and load once per process; the compiler keeps libraries between processes."""
    return _module(source, names)


@functools.cache
def _module(source: str, names: tuple[str, ...]) -> Module:
    return Module(compile_source(source, (), names).library)


def kernel(source: str, name: str) -> Kernel:
    return module(source, (name,) if "<" in name else ()).kernel(name)


class Array:
    """An array in the executor's memory. `host` is a view of it."""

    def __init__(
        self, memory: Memory, shape: Any, dtype: Any, values: Any = None, *, untouched: bool = False
    ) -> None:
        self.memory = memory
        dtype = np.dtype(dtype)
        nbytes = int(np.prod(shape)) * dtype.itemsize
        self.block: Allocation = memory.allocate(
            nbytes, initialised=untouched or values is not None
        )
        self.host: Any = np.ndarray(shape, dtype, buffer=self.block.bytes)
        if values is not None:
            self.host[...] = values

    @property
    def pointer(self) -> Pointer:
        return Pointer(self.block.address, dtype=self.host.dtype)


class Executor:
    def __init__(self) -> None:
        self.memory = Memory()

    def array(self, values: Any, dtype: Any = np.float32) -> Array:
        values = np.asarray(values, dtype=dtype)
        return Array(self.memory, values.shape, values.dtype, values)

    def empty(self, shape: Any, dtype: Any = np.float32) -> Array:
        return Array(self.memory, shape, dtype)

    def launch(
        self,
        which: Kernel,
        grid: Any,
        block: Any,
        args: Sequence[Any],
        shared_mem: int = 0,
        **options: Any,
    ) -> LaunchReport:
        """Launch in all three orders unless told otherwise; arrays are passed as pointers."""
        given = [value.pointer if isinstance(value, Array) else value for value in args]
        options = options if "order" in options else {"orders": ORDERS, **options}
        return which.launch(grid, block, given, shared_mem, memory=self.memory, **options)

    def diagnostics(self, *args: Any, **options: Any) -> list[Diagnostic]:
        """Launch, and return the diagnostics, whether or not the launch completed."""
        try:
            return self.launch(*args, **options).diagnostics
        except LaunchError as error:
            return list(error.diagnostics)
