"""Advice names the lines of a kernel whose accesses do not coalesce."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gpu_worker.exercises import get
from gpu_worker.judge.kernels.advice import of_accesses
from gpu_worker.judge.kernels.counting import counts_of
from gpu_worker.judge.verdict.notes import KernelNote
from gpu_worker.sandbox.client import Zygote
from gpu_worker.tests.cupy.conftest import submission


def said(*accesses: dict[str, Any], lines: int = 30, **changes: Any) -> list[str]:
    plain = {"space": "global", "write": False, "sectors": 0, "ideal_sectors": 0}
    listed = [{**plain, "bank_conflicts": 0, **access} for access in accesses]
    fields = {
        **{"name": "k", "build": 0, "grid": [1], "block": [32], "shared_mem": 0, "launches": 40},
        "counters": {
            **{"barriers": 0, "global_bytes_read": 0, "global_bytes_written": 0},
            "accesses": listed,
        },
    }
    return list(of_accesses("forward", KernelNote(**{**fields, **changes}), "k", lines))


GOOD = {"line": 3, "sectors": 100, "ideal_sectors": 100}
APART = {"line": 9, "sectors": 800, "ideal_sectors": 100}
WRITTEN = {"line": 12, "write": True, "sectors": 400, "ideal_sectors": 100}


def test_lines_that_waste_sectors_are_named_worst_first() -> None:
    (sentence,) = said(GOOD, WRITTEN, APART)
    assert "12% where it reads on line 9 of its source; 25% where it writes on line 12" in sentence
    assert "line 3" not in sentence


def test_coalesced_small_or_foreign_accesses_get_no_advice() -> None:
    assert said(GOOD) == []
    assert said({**GOOD, "sectors": 1000, "ideal_sectors": 1000}, {**APART, "sectors": 110}) == []
    assert said(APART, generated=True) == []


@pytest.mark.parametrize("line", [None, 0, 31, 1 << 60])
def test_an_impossible_line_is_left_out(line: int | None) -> None:
    (sentence,) = said({**APART, "line": line})
    assert "12% where it reads. " in sentence


def test_the_line_with_most_bank_conflicts_is_named() -> None:
    shared = {"space": "shared", "line": 7}
    assert said({**shared, "bank_conflicts": 15}) == []
    (sentence,) = said({**shared, "bank_conflicts": 31}, {**shared, "line": 8, "bank_conflicts": 2})
    assert "33 bank conflicts in shared memory, most of them on line 7 of its source." in sentence


def test_blocks_that_do_not_fill_warps_are_mentioned() -> None:
    assert said(GOOD, block=[8, 4]) == []
    assert said(GOOD, block=[1], generated=True) == []
    (sentence,) = said(GOOD, block=[1])
    assert "blocks of 1 thread leave 31 of the 32 lanes of a warp idle" in sentence


ROW_BY_ONE = '''
import cupy as cp
import numpy as np

SOURCE = r"""
extern "C" __global__ void forward(const float* x, const float* gamma, float* y, int dim,
                                   float eps) {
    const long long start = (long long)blockIdx.x * dim;
    float square = 0;
    for (int j = 0; j < dim; j++) square += x[start + j] * x[start + j];
    const float rstd = rsqrtf(square / dim + eps);
    for (int j = 0; j < dim; j++) y[start + j] = x[start + j] * rstd * gamma[j];
}
"""
KERNEL = cp.RawKernel(SOURCE, "forward")


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.dim, self.eps, self.gamma = dim, eps, cp.ones(dim, dtype=cp.float32)

    def forward(self, x):
        y = cp.empty_like(x)
        if x.size:
            sizes = np.int32(self.dim), np.float32(self.eps)
            KERNEL((x.size // self.dim,), (1,), (x, self.gamma, y, *sizes))
        return y
'''


def test_a_row_in_a_block_of_one_thread_is_not_coalesced(zygote: Zygote) -> None:
    counted = counts_of(get("rmsnorm_one_launch"), ROW_BY_ONE, zygote)
    assert counted is not None
    (kernel,) = counted.rows[0].kernels
    assert kernel.coalescing == 0.125
    told = " ".join(counted.advice)
    assert "blocks of 1 thread leave 31 of the 32 lanes of a warp idle" in told
    assert "12% where it reads on line" in told


def test_a_thread_per_row_gets_advice_at_its_reads(zygote: Zygote) -> None:
    source = submission("raw_thread_per_row")
    counted = counts_of(get("rmsnorm"), source, zygote)
    assert counted is not None
    (told,) = [one for one in counted.advice if one.startswith("forward") and "sectors" in one]
    kernel = re.search(r'"""(.*?)"""', source, re.DOTALL)
    assert kernel is not None
    lines = kernel[1].splitlines()
    named = [lines[int(number) - 1] for number in re.findall(r"on line (\d+)", told)]
    assert len(named) >= 2
    assert all("x[" in line or "y[" in line for line in named)
