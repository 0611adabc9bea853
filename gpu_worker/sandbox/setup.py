"""How a zygote is started: behind which walls, by which program."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpu_worker.sandbox import bubblewrap, syscalls
from gpu_worker.sandbox.inside.walls import Walls
from gpu_worker.sandbox.interpreter import Interpreter

INSIDE: Final = str(Path(__file__).resolve().parent / "inside")
_FIRST_RUNNER_USER: Final = 61_000
_RUNNER_USERS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Setup:
    """Which walls are wanted.

    `bubblewrap` is the program for namespaces, empty for none; `landlock` the version to use at
    most, 0 for none; `scratch`: runs get a folder on this machine's disk, for the level without
    walls only.
    """

    bubblewrap: str = ""
    fresh_proc: bool = True
    landlock: int = 0
    seccomp: bool = False
    scratch: bool = False

    def walls(self, interpreter: Interpreter) -> Walls:
        """Return what the zygote is told.

        Raises:
            SandboxError: the seccomp filter cannot be made.
        """
        namespaces = bool(self.bubblewrap)
        readable = bubblewrap.readable(interpreter)
        if not namespaces:
            readable = (*readable[:-1], *interpreter.package_folders())
        return Walls(
            namespaces=namespaces,
            landlock=self.landlock,
            program=syscalls.program() if self.seccomp else b"",
            user=runner_user(),
            readable=readable,
        )

    def command(self, interpreter: Interpreter, control: int) -> list[str]:
        """Return the zygote's command; `control` is the descriptor of its socket."""
        inside, packages, outer = INSIDE, interpreter.packages, []
        if self.bubblewrap:
            outer = bubblewrap.command(
                self.bubblewrap,
                interpreter,
                INSIDE,
                root=os.geteuid() == 0,
                fresh_proc=self.fresh_proc,
            )
            inside, packages = bubblewrap.INSIDE, bubblewrap.PACKAGES
        return [*outer, interpreter.program, "-I", "-S", inside, str(control), packages]


def runner_user() -> int | None:
    """Return the user id for this process's runners, None where it cannot be changed."""
    if os.geteuid() != 0:
        return None
    return _FIRST_RUNNER_USER + os.getpid() % _RUNNER_USERS
