"""Which walls stand between learners' code and this machine, said plainly."""

from __future__ import annotations

import logging
import os
from typing import Final

LEVEL: Final = "process"
"""A process of its own with limits, an empty environment and another user; no namespaces yet."""

_FIRST_RUNNER_USER: Final = 61_000
_RUNNER_USERS: Final = 1_000

logger = logging.getLogger(__name__)


def runner_user() -> int | None:
    """Return the user id for this process's runners, None where it cannot be changed."""
    if os.geteuid() != 0:
        return None
    return _FIRST_RUNNER_USER + os.getpid() % _RUNNER_USERS


def warn_of_missing_walls() -> None:
    """Log what the present level does not stop."""
    user = "an unprivileged user of its own" if os.geteuid() == 0 else "THIS WORKER'S OWN USER"
    logger.warning(
        "NOT YET A SANDBOX: isolation level %r runs submitted code in a limited process under %s, "
        "without namespaces, Landlock or seccomp. It can read world-readable files and open "
        "network connections. Run it only for people you trust, or on a machine that holds "
        "nothing else.",
        LEVEL,
        user,
    )
