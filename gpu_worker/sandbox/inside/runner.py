"""The runner: puts on the layers in their order, then runs the learner's code. Used once."""

from __future__ import annotations

import os
import signal

from . import harness
from .layers import descriptors, identity, limits, process
from .layers.limits import RunLimits

SETUP_FAILED = 97


def enter(run: RunLimits, parent: int, scratch: str, job: int, result: int, output: int) -> None:
    """Become the runner. Never returns: ends with 0, or with `SETUP_FAILED`."""
    try:
        _isolate(run, parent, scratch, job, result, output)
    except BaseException:  # noqa: BLE001  the learner's code must not start half isolated
        os._exit(SETUP_FAILED)
    harness.main(descriptors.JOB, descriptors.RESULT)
    os._exit(0)


def _isolate(run: RunLimits, parent: int, scratch: str, job: int, result: int, output: int) -> None:
    descriptors.keep_only(job, result, output)
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    process.prefer_for_killing()
    if run.user is not None:
        identity.drop_to(run.user)
    process.die_with_parent(parent)
    process.forbid_new_privileges()
    os.chdir(scratch)
    os.umask(0o077)
    _clear_environment(scratch)
    limits.apply(run)
    process.forbid_tracing()


def _clear_environment(scratch: str) -> None:
    os.environ.clear()
    os.environ.update(
        HOME=scratch, TMPDIR=scratch, LANG="C.UTF-8", OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1"
    )
