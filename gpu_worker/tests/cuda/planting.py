"""Bugs planted in small kernels, each beside an honest twin that must pass without diagnostics.

`HERE` in a comment marks the line that must be named.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_worker.tests.cuda.executor import Executor

Launch = tuple[Any, ...]
"""grid, block, arguments, and shared memory or nothing."""


@dataclass(frozen=True)
class Planted:
    """`source` holds the kernels `wrong` and `honest`; without two, the launches differ."""

    id: str
    kind: str
    source: str
    wrong: Callable[[Executor], Launch]
    honest: Callable[[Executor], Launch] | None = None
    says: str = ""
    """What the message must hold besides."""

    @property
    def line(self) -> int | None:
        lines = self.source.splitlines()
        return next((n for n, text in enumerate(lines, start=1) if "HERE" in text), None)


def twins(head: str, wrong: str, honest: str) -> str:
    """Return a source with both kernels, each with its own body."""
    return "\n".join(
        f'extern "C" __global__ void {name}({head}) {{\n{body}\n}}'
        for name, body in (("wrong", wrong), ("honest", honest))
    )


def sum_of_block(executor: Executor) -> Launch:
    return (1,), (128,), (executor.array(np.arange(128)), executor.empty(1))


def copy(n: int, threads: int = 64) -> Callable[[Executor], Launch]:
    def launch(executor: Executor) -> Launch:
        blocks = -(-n // threads)
        return (blocks,), (threads,), (executor.array(np.arange(n)), executor.empty(n), np.int32(n))

    return launch


BLOCK_SUM = """
  __shared__ float part[4];
  float s = x[threadIdx.x];
  for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = s;
  {barrier}
  {read}
"""
COPY_HEAD = "const float *x, float *y, int n"
INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
