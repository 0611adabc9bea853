"""Open files: the runner has five, and no other."""

from __future__ import annotations

import fcntl
import os
from typing import Final

JOB: Final = 3
RESULT: Final = 4
_FIRST_CLOSED: Final = 5
_ALL: Final = 1 << 20


def keep_only(job: int, result: int, output: int) -> None:
    """Arrange 0 as the null device, 1 and 2 as `output`, 3 as `job`, 4 as `result`."""
    null = os.open("/dev/null", os.O_RDONLY)
    # First out of the way of the final numbers, so that none overwrites another.
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 16) for fd in (null, output, output, job, result)]
    for number, descriptor in enumerate(high):
        os.dup2(descriptor, number, inheritable=True)
    os.closerange(_FIRST_CLOSED, _ALL)
