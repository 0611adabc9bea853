"""A kernel in its library: its parameters, and how much shared memory it declares."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arguments import Parameter
from .library import Library
from .limits import DEFAULT_SHARED_BYTES, MOST_THREADS


class Function:
    """One kernel of a library. `parameters` are those of its source."""

    def __init__(
        self,
        library: Library,
        name: str,
        call: int,
        address: int,
        parameters: tuple[Parameter, ...],
    ) -> None:
        self.library = library
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
        return self.library.static_shared_bytes(self.address)

    @cached_property
    def shared_ends(self) -> NDArray[np.uint32]:
        """Where its static shared variables end, see `Library.shared_ends`."""
        return self.library.shared_ends(self.address)

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
