"""A kernel of a module: what it takes, and launching it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .arguments import Parameter
from .launching import STEP_LIMIT, Launching
from .limits import DEFAULT_SHARED_BYTES, MOST_THREADS, dimensions
from .memory import Memory
from .orders import run_in_orders
from .report import LaunchReport, Order

if TYPE_CHECKING:
    from .module import Module


class Kernel:
    """One kernel of a module. `parameters` are those of its source."""

    def __init__(
        self, module: Module, name: str, call: int, address: int, parameters: tuple[Parameter, ...]
    ) -> None:
        self.module = module
        self.call = call
        self.name = name
        self.address = address
        self.parameters = parameters
        self.launch_bound = 0
        """The threads of a block that its `__launch_bounds__` allows; 0 where it has none."""
        self.lines = range(0)
        """The lines of the source from `__global__` to the end of its body."""
        self._dynamic_limit: int | None = None

    @property
    def shared_size_bytes(self) -> int:
        """Its static shared memory."""
        return self.module.static_shared_bytes(self.address)

    @cached_property
    def shared_ends(self) -> NDArray[np.uint32]:
        """Where its static shared variables end, see `Module.shared_ends`."""
        return self.module.shared_ends(self.address)

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """How much dynamic shared memory a launch may ask for; may be set up to 227 KB in sum."""
        if self._dynamic_limit is None:
            return DEFAULT_SHARED_BYTES - self.shared_size_bytes
        return self._dynamic_limit

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, value: int) -> None:
        self._dynamic_limit = int(value)

    @property
    def attributes(self) -> dict[str, Any]:
        """What is known of the kernel without running it."""
        return {
            "shared_size_bytes": self.shared_size_bytes,
            "max_dynamic_shared_size_bytes": self.max_dynamic_shared_size_bytes,
            "max_threads_per_block": min(self.launch_bound or MOST_THREADS, MOST_THREADS),
            "parameters": [(p.name, p.text or p.type_name, p.size) for p in self.parameters],
        }

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
