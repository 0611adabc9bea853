"""What to do about findings: sentences that more than one of them needs, or that are long."""

from __future__ import annotations

from typing import Final

SUM_IN_A_BLOCK: Final = (
    "For the same bits each time, add up in a fixed order: by shuffles within each warp and then "
    "over the warps' sums, or by a tree in shared memory with __syncthreads() between its steps."
)
SUM_OVER_BLOCKS: Final = (
    "For the same bits each time, let each block write its part and add the parts in a fixed order "
    "in a second kernel."
)
IN_A_LOOP: Final = (
    "Where one stands there already, the thread that writes is ahead, in the next pass of a loop: "
    "put one at the end of the loop too."
)
ORDERS: Final = (
    "On a device that order changes from run to run. Either a barrier is missing between a write "
    "and a read of the same memory, or several threads write different values to one place, or a "
    "variable is read that was given no value: it holds what another thread left there."
)
WAITING: Final = (
    "Blocks run one after another here, so a loop that waits for another block never ends; nor "
    "does one that waits for a thread of its own block, unless it has a barrier or an atomic "
    "operation in it, nor one whose counter stands still."
)
BEYOND_LOCAL: Final = (
    "Behind it lie other variables of the thread. Make the array as long as the loop over it, or "
    "end the loop where the array ends."
)
OVERFLOW: Final = (
    "What comes of it is undefined. If it is an index: one of N*D elements passes 2**31 sooner "
    "than one thinks, so compute it in 64 bits, `(long long)row * D + j`."
)
