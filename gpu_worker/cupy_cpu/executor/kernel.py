"""Launches a kernel, or checks whether a device would accept the launch."""

from __future__ import annotations

from collections.abc import Sequence

from .function import Function
from .launching import STEP_LIMIT, Launching
from .limits import dimensions
from .memory import Memory
from .orders import run_in_orders
from .report import LaunchReport, Order


class Kernel(Function):
    """One kernel of a module, ready to be launched."""

    def check(
        self,
        grid: Sequence[int] | int,
        block: Sequence[int] | int,
        args: Sequence[object],
        shared_mem: int = 0,
        *,
        memory: Memory,
    ) -> None:
        """See whether a device would take a launch, and run nothing.

        Raises:
            LaunchError: it would not.
            TypeError: an argument is of a kind that no kernel takes.
        """
        Launching(self, dimensions(grid), dimensions(block), args, shared_mem, memory).check()

    def launch(
        self,
        grid: Sequence[int] | int,
        block: Sequence[int] | int,
        args: Sequence[object],
        shared_mem: int = 0,
        *,
        memory: Memory,
        order: Order = "forward",
        orders: Sequence[Order] = (),
        seed: int = 0,
        blocks: tuple[int, int] | None = None,
        step_limit: int = STEP_LIMIT,
    ) -> LaunchReport:
        """Run the kernel over a grid, thread by thread.

        `args` as CuPy's; arrays as `Pointer`. With `orders` the launch is run once in each, on
        the same memory, and the results are compared bit for bit; those of the first stay.
        `blocks` (first, count) runs a part of the grid only.

        Raises:
            LaunchError: a device would refuse the launch, or could not go on with it.
            TypeError: an argument is of a kind that no kernel takes.
        """
        plan = Launching(self, dimensions(grid), dimensions(block), args, shared_mem, memory)
        plan.check()
        memory.launches += 1
        if len(orders) > 1:
            report = run_in_orders(plan, orders, seed, step_limit)
        else:
            report = plan.run(orders[0] if orders else order, seed, step_limit, blocks)
        plan.sign(report)
        return report
