"""The user: a worker that runs as root drops root in the runner."""

from __future__ import annotations

import os


def drop_to(user: int) -> None:
    """Become the user and group `user`, for good, without other groups. Needs root."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
