"""Open files: the runner has five, and no other."""

from __future__ import annotations

import fcntl
import os
from typing import Final

JOB: Final = 3
RESULT: Final = 4
_SETUP: Final = 5
_FIRST_CLOSED: Final = 6
_ALL: Final = 1 << 20
_OUT_OF_THE_WAY: Final = 16


def keep_only(job: int, result: int, output: int, setup: int) -> int:
    """Arrange 0 as the null device, 1 and 2 as `output`, 3 as `job`, 4 as `result`.

    Returns the number of `setup`, the one more that is closed before the learner's code runs.
    """
    null = os.open("/dev/null", os.O_RDONLY)
    wanted = (null, output, output, job, result, setup)
    # First moved away from the final numbers, so that none overwrites another.
    high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, _OUT_OF_THE_WAY) for descriptor in wanted]
    for number, descriptor in enumerate(high):
        os.dup2(descriptor, number, inheritable=True)
    os.closerange(_FIRST_CLOSED, _ALL)
    return _SETUP
