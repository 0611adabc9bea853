"""The runner: applies the layers in order, then runs the learner's code. Used once.

The order matters. Descriptors go first, so that nothing below can be reached through one.
The bounding set goes before the user, since changing the user drops the capability for it;
`no_new_privs` comes before Landlock and seccomp, which need it; limits come before the capability
to raise them is given up; Landlock comes before seccomp, which refuses Landlock's calls.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Final, NoReturn

from . import harness
from .device import layers as device_layers
from .layers import (
    capabilities,
    descriptors,
    identity,
    landlock,
    limits,
    process,
    seccomp,
    threads,
)
from .layers.limits import RunLimits
from .layers.namespaces import SCRATCH
from .walls import Walls

SETUP_DONE: Final = b"isolated"
_FAILED: Final = 97
_NO_FOLDER: Final = "/nonexistent"
_MESSAGE_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class Order:
    """What a waiting runner is told, besides its job: limits, and its folder, empty for none."""

    run: RunLimits
    scratch: str

    def to_bytes(self) -> bytes:
        return self.scratch.encode() + b"\0" + self.run.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Order:
        scratch, _, run = data.partition(b"\0")
        return cls(RunLimits.from_bytes(run), scratch.decode())


def enter(walls: Walls, supervisor: int, orders: socket.socket, setup: int) -> NoReturn:
    """Become the runner: wait for the order, put on the layers, run the learner's code.

    Says over the pipe `setup` that all layers are on, or why not, before any other code runs.
    """
    try:
        # In its own process table, the runner's parent has no process id.
        parent = 0 if walls.namespaces else supervisor
        process.die_with_parent(parent)
        message, given, _, _ = socket.recv_fds(orders, _MESSAGE_BYTES, 3)
        if not message:
            os._exit(0)
        order = Order.from_bytes(message)
        job, result, output = given
        setup = descriptors.keep_only(job, result, output, setup)
        _isolate(walls, order, parent)
        if walls.device:
            device_start().begin(walls.device.sealing)
    except BaseException as error:  # noqa: BLE001  the code must not start half isolated
        os.write(setup, f"{type(error).__name__}: {error}".encode("utf-8", "replace"))
        os._exit(_FAILED)
    os.write(setup, SETUP_DONE)
    os.close(setup)
    harness.main(descriptors.JOB, descriptors.RESULT)
    os._exit(0)


def device_start() -> ModuleType:
    """Return the module that takes a device into use: a zygote for one has loaded it."""
    from .device import start

    return start


def _isolate(walls: Walls, order: Order, parent: int) -> None:
    scratch = order.scratch
    os.setsid()
    if walls.device:
        # Must happen while mounting is still possible.
        device_layers.mount_own_proc()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    capabilities.drop_bounding_set()
    if walls.user is not None:
        identity.drop_to(walls.user)
    # Set again: the kernel clears it when the user changes.
    process.die_with_parent(parent)
    process.forbid_new_privileges()
    os.chdir(scratch or "/")
    os.umask(0o077)
    if scratch != os.environ["HOME"]:
        os.environ.update(HOME=scratch or _NO_FOLDER, TMPDIR=scratch or _NO_FOLDER)
    changed = device_layers.changed_limits(walls.device, order.run) if walls.device else {}
    limits.apply(order.run, changed)
    capabilities.drop_all()
    device_layers.stay_dumpable() if walls.device else process.forbid_tracing()
    threads.assert_one()
    if walls.landlock:
        further = device_layers.landlock_rules(walls.device) if walls.device else ()
        landlock.restrict(walls.landlock, walls.readable, scratch, further)
    if walls.program:
        seccomp.load(walls.program)


def clear_environment(further: Sequence[tuple[str, str]] = ()) -> None:
    """Leave of the environment what runners get. The zygote does it, once for all of them."""
    os.environ.clear()
    os.environ.update(
        HOME=SCRATCH,
        TMPDIR=SCRATCH,
        LANG="C.UTF-8",
        OPENBLAS_NUM_THREADS="1",
        OMP_NUM_THREADS="1",
    )
    os.environ.update(further)
