"""Memory pools and allocators: they hold nothing here, since every array has its own allocation.

They answer as empty pools do; limits are stored but not enforced. Memory that no array owns is not
given out: a kernel could not be watched in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .missing import missing

_BYTES_OF_DEVICE = 141 * 10**9
"""Of an H200, for limits that are given as a fraction."""


def _no_memory(pool: Any) -> AttributeError:
    return AttributeError(
        f"The CPU stand-in for CuPy gives out no memory without an array: {type(pool).__name__}."
        "malloc can only be handed to set_allocator. Make an array: cupy.empty(size, cupy.uint8)."
    )


class MemoryPool:
    """A memory pool that holds nothing: NumPy allocates."""

    def __init__(self, allocator: Any = None) -> None:
        self._limit = 0

    def used_bytes(self) -> int:
        return 0

    def total_bytes(self) -> int:
        return 0

    def free_bytes(self) -> int:
        return 0

    def n_free_blocks(self) -> int:
        return 0

    def free_all_blocks(self, stream: Any = None) -> None:
        return

    def malloc(self, size: int) -> Any:
        """Be there to be handed to `set_allocator`; nothing else can use it.

        Raises:
            AttributeError: it is called.
        """
        raise _no_memory(self)

    def set_limit(self, size: Any = None, fraction: Any = None) -> None:
        if (size is None) == (fraction is None):
            raise ValueError("Give either the size or the fraction.")
        if (size or 0) < 0 or not 0 <= (fraction or 0) <= 1:
            raise ValueError("A limit is no less than 0, and a fraction no more than 1.")
        self._limit = int(_BYTES_OF_DEVICE * fraction) if size is None else int(size)

    def get_limit(self) -> int:
        return self._limit

    def __getattr__(self, name: str) -> Any:
        raise missing(f"cuda.{type(self).__name__}", name, dir(type(self)))


class MemoryAsyncPool(MemoryPool):
    """The pool of the driver, which holds nothing here either."""


class PinnedMemoryPool:
    """A pool of the host's memory, which holds nothing: no copy could be faster for it."""

    def __init__(self, allocator: Any = None) -> None:
        return

    def n_free_blocks(self) -> int:
        return 0

    def free_all_blocks(self) -> None:
        return

    def malloc(self, size: int) -> Any:
        """Be there to be handed to `set_pinned_memory_allocator`; nothing else can use it.

        Raises:
            AttributeError: it is called.
        """
        raise _no_memory(self)

    def __getattr__(self, name: str) -> Any:
        raise missing("cuda.PinnedMemoryPool", name, dir(type(self)))


_memory_pool = MemoryPool()
_pinned_memory_pool = PinnedMemoryPool()


def get_default_memory_pool() -> MemoryPool:
    """Return the pool that arrays would come from."""
    return _memory_pool


def get_default_pinned_memory_pool() -> PinnedMemoryPool:
    """Return the pool that pinned memory would come from."""
    return _pinned_memory_pool


def set_allocator(allocator: Any = None) -> None:
    """Change nothing."""


def set_pinned_memory_allocator(allocator: Any = None) -> None:
    """Change nothing."""


@contextmanager
def using_allocator(allocator: Any = None) -> Iterator[None]:
    """Change nothing for a while."""
    yield
