"""One zygote for all tests of the engine; each grading still has a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from gpu_worker.cupy_cpu import host
from gpu_worker.judge import Graded, Options, grade_source
from gpu_worker.judge.diagnosis.search_time import UNHURRIED
from gpu_worker.judge.running.builds import LocalBuilder
from gpu_worker.sandbox.client import Zygote

Grade = Callable[..., Graded]


@pytest.fixture(scope="session", autouse=True)
def _kernels_are_built_in_this_process() -> None:
    """For tests that use the stand-in for CuPy outside of a sandbox."""
    host.connect(LocalBuilder())


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    with Zygote() as zygote:
        yield zygote


@pytest.fixture
def grade(zygote: Zygote) -> Grade:
    """Grade a source for RMSNorm, or for the exercise given."""

    def run(source: str, slug: str = "rmsnorm", **options: object) -> Graded:
        options.setdefault("search_seconds", UNHURRIED)
        return grade_source(slug, "numpy", source, Options(**options), zygote=zygote)  # type: ignore[arg-type]

    return run


RIGHT = """
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        wide = x.astype(np.float64)
        self.rstd = 1 / np.sqrt(np.mean(wide * wide, axis=-1, keepdims=True) + self.eps)
        self.xhat = wide * self.rstd
        return (self.xhat * self.gamma).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64)
        rows = tuple(range(d.ndim - 1))
        self.dgamma = np.sum(d * self.xhat, axis=rows).astype(self.gamma.dtype)
        g = d * self.gamma
        mean = np.mean(g * self.xhat, axis=-1, keepdims=True)
        return ((g - self.xhat * mean) * self.rstd).astype(self.dtype)
"""


@pytest.fixture
def right() -> str:
    """A right RMSNorm, to be changed by a test."""
    return RIGHT
