"""Which kernel of `kernels.cu` takes which rows: what `row_launch` leaves to each exercise.

The least that must be moved, with s bytes per element and w (4, for float64 8) per sum:

    forward    2*N*D*s + 2*D*s + 2*w*N        read x, write y; gamma, beta once; mean and rstd
    backward   3*N*D*s + D*s + 2*w*N          read x and dout, write dx; gamma once; mean and rstd
               + 4*w*G*D + 2*D*s              parts of dgamma and dbeta, written and read; both

G is the number of blocks of the backward kernel, at most `PERSISTENT_BLOCKS`. For N much above G
that is 2*N*D*s and 3*N*D*s, what a copy of the arrays moves. Where the rows are too long for
registers the forward kernel reads x three times and the backward kernels read x and dout three
times; after the first time the caches may have them.
"""

from __future__ import annotations

from typing import Final

from gpu_worker.exercises.row_launch import (
    BACKWARD_BLOCK,
    BACKWARD_BLOCK_SINGLE,
    FORWARD_BLOCK,
    FORWARD_BLOCK_SINGLE,
    ITEM_BYTES,
    RowLaunches,
    Table,
)


def _forward_block(dtype: str, pack: int) -> Table:
    if pack == 1:
        return FORWARD_BLOCK_SINGLE[:-1] if dtype == "float64" else FORWARD_BLOCK_SINGLE
    return FORWARD_BLOCK if dtype == "float32" else FORWARD_BLOCK[:-1]


def _backward_block(dtype: str, pack: int) -> Table:
    if pack == 1:
        return BACKWARD_BLOCK_SINGLE[:-1] if dtype == "float64" else BACKWARD_BLOCK_SINGLE
    return BACKWARD_BLOCK[:-1] if ITEM_BYTES[dtype] == 2 else BACKWARD_BLOCK


LAUNCHES: Final = RowLaunches(_forward_block, _backward_block, parameters=2, kept=2)
