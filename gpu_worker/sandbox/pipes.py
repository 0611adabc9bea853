"""What the judge hands to a runner: pipes to write to, and memory to read from."""

from __future__ import annotations

import contextlib
import fcntl
import os
from typing import Final

PIPE_BYTES: Final = 1 << 20
F_SEAL_FUTURE_WRITE: Final = 0x0010
"""Forbids all writing but through mappings made before; Linux 5.1. Python has no name for it.

F_SEAL_WRITE beside it would fail, EBUSY, while the kernel itself holds a page for a moment, as it
does to look at how memory is used or to move it.
"""


def pipe(stack: contextlib.ExitStack) -> tuple[int, int]:
    """Return a roomy pipe; the read end is closed with the stack, the write end by the caller."""
    read_end, write_end = os.pipe()
    stack.callback(os.close, read_end)
    with contextlib.suppress(OSError):
        # An ordinary user may have used up the allowed pipe memory; the default size works too.
        fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return read_end, write_end


def sealed_memory(data: bytes) -> int:
    """Return a descriptor of an anonymous file with the data, which nobody can change."""
    descriptor = os.memfd_create("job", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    seal(descriptor)
    return descriptor


def seal(descriptor: int) -> None:
    """Let nobody write to an anonymous file from now on, change its size, or take that back.

    Who has mapped it to write to it before may go on.
    """
    seals = F_SEAL_FUTURE_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
