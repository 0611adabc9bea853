"""Which kernel of `kernels.cu` takes which rows: what `row_launch` leaves to each exercise.

The least that must be moved, with s bytes per element and w (4, for float64 8) per sum:

    forward    2*N*D*s + D*s + w*N            read x, write y; gamma once; rstd
    backward   3*N*D*s + D*s + w*N            read x and dout, write dx; gamma once; rstd
               + 2*w*G*D + D*s                parts of dgamma, written and read; dgamma

G is the number of blocks of the backward kernel, at most `PERSISTENT_BLOCKS`. For N much above G
that is 2*N*D*s and 3*N*D*s, what a copy of the arrays moves. Where the rows are too long for
registers the forward kernel reads x twice and the backward kernels read x and dout three times;
the second time the caches may have them.
"""

from __future__ import annotations

from typing import Final

from gpu_worker.exercises.row_launch import (
    BACKWARD_BLOCK,
    BACKWARD_BLOCK_SINGLE,
    FORWARD_BLOCK,
    FORWARD_BLOCK_SINGLE,
    RowLaunches,
    Table,
)


def _forward_block(dtype: str, pack: int) -> Table:
    if pack == 1:
        return FORWARD_BLOCK_SINGLE
    return FORWARD_BLOCK[:-1] if dtype == "bfloat16" else FORWARD_BLOCK


def _backward_block(dtype: str, pack: int) -> Table:
    return BACKWARD_BLOCK if pack > 1 else BACKWARD_BLOCK_SINGLE


LAUNCHES: Final = RowLaunches(_forward_block, _backward_block, parameters=1, kept=1)
