"""How large a launch may be: the limits of devices of compute capability 8.0 to 10.0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .defects import Defect, Severity
from .diagnostics import Diagnostic

Dimensions = tuple[int, int, int]

DEFAULT_SHARED_BYTES: Final = 48 * 1024
MOST_SHARED_BYTES: Final = 227 * 1024
MOST_THREADS: Final = 1024
MOST_BLOCKS: Final = (2**31 - 1, 65_535, 65_535)
MOST_BLOCK: Final = (1024, 1024, 64)
_AXES: Final = "xyz"


def dimensions(sizes: Sequence[int] | int) -> Dimensions:
    """Return three sizes; those that are missing are 1.

    Raises:
        TypeError: they are not whole numbers.
        ValueError: there are more than three, or none.
    """
    listed = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    if not 1 <= len(listed) <= 3:
        raise ValueError("A grid and a block have one to three sizes.")
    x, y, z = (*(_whole(size) for size in listed), 1, 1)[:3]
    return x, y, z


def _whole(size: object) -> int:
    index = getattr(size, "__index__", None)
    if index is None:
        raise TypeError(
            f"The sizes of a grid and a block are whole numbers, not {size!r}. Use // to divide."
        )
    return int(index())


def check_size(
    kernel: str,
    grid: Dimensions,
    block: Dimensions,
    static_shared: int,
    dynamic_shared: int,
    dynamic_limit: int,
    launch_bound: int = 0,
) -> list[Diagnostic]:
    """Return why a device would refuse such a launch.

    `launch_bound` is what `__launch_bounds__` says of the kernel, 0 for nothing.
    """
    texts = [*_blocks(grid), *(_threads(block) or _bounded(block, launch_bound))]
    found = [Diagnostic(Defect.LAUNCH_SIZE, Severity.ERROR, kernel, None, text) for text in texts]
    text = _shared(static_shared, dynamic_shared, dynamic_limit)
    if text:
        detail = {"static_bytes": static_shared, "dynamic_bytes": dynamic_shared}
        found.append(Diagnostic(Defect.SHARED_SIZE, Severity.ERROR, kernel, None, text, detail))
    return found


def _blocks(grid: Dimensions) -> list[str]:
    found = []
    for axis, size, most in zip(_AXES, grid, MOST_BLOCKS, strict=True):
        if size < 1:
            found.append(
                f"The grid is {grid}: {size} blocks along {axis}. A grid has at least one block "
                "along each axis; for an empty batch, do not launch at all."
            )
        elif size > most:
            found.append(
                f"The grid is {grid}: along {axis} a device takes at most {most:,} blocks. Rows "
                "belong on x, which takes 2,147,483,647."
            )
    return found


def _threads(block: Dimensions) -> list[str]:
    count = block[0] * block[1] * block[2]
    if min(block) < 1:
        return [f"The block is {block}: it needs at least one thread along each axis."]
    if count > MOST_THREADS:
        return [
            f"The block {block} has {count:,} threads; a device takes at most {MOST_THREADS:,}. "
            "Let each thread do several elements, in a loop with a stride of blockDim.x."
        ]
    if block[2] > MOST_BLOCK[2]:
        return [f"The block is {block}: along z a device takes at most {MOST_BLOCK[2]} threads."]
    return []


def _bounded(block: Dimensions, bound: int) -> list[str]:
    count = block[0] * block[1] * block[2]
    if not 0 < bound < count:
        return []
    return [
        f"The block {block} has {count:,} threads, but the kernel is marked "
        f"__launch_bounds__({bound}), for which the compiler shares out the registers: a device "
        "refuses more threads. Launch fewer, or raise the bound."
    ]


def _shared(static: int, dynamic: int, limit: int) -> str:
    if dynamic < 0:
        return f"The launch asks for {dynamic} bytes of shared memory."
    if static + dynamic > MOST_SHARED_BYTES:
        return (
            f"The kernel has {static:,} bytes of shared memory and the launch asks for {dynamic:,} "
            f"more; a block has at most {MOST_SHARED_BYTES:,} in sum."
        )
    if static > DEFAULT_SHARED_BYTES:
        return (
            f"The kernel's `__shared__` arrays take {static:,} bytes; static ones may take "
            f"{DEFAULT_SHARED_BYTES:,}. Make the large one dynamic: `extern __shared__`."
        )
    if dynamic > limit:
        return (
            f"The launch asks for {dynamic:,} bytes of dynamic shared memory, beside {static:,} "
            f"static ones; without more ado a kernel gets {DEFAULT_SHARED_BYTES:,} in sum. Set "
            f"kernel.max_dynamic_shared_size_bytes = {dynamic} before the launch, or use less."
        )
    return ""
