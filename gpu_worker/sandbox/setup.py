"""How a zygote is started: behind which walls, by which program."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpu_worker.sandbox import bubblewrap, stand_in, syscalls
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

    def walls(self, interpreter: Interpreter, builds: str = "") -> Walls:
        """Return what the zygote is told; `builds` is this machine's folder for built kernels.

        Raises:
            SandboxError: the seccomp filter cannot be made.
        """
        namespaces = bool(self.bubblewrap)
        readable = bubblewrap.readable(interpreter)
        modules = stand_in.folders()
        if not namespaces:
            shown = (bubblewrap.PACKAGES, bubblewrap.BUILDS)
            readable = tuple(path for path in readable if path not in shown)
            readable = (*readable, *interpreter.package_folders(), *((builds,) if builds else ()))
        return Walls(
            namespaces=namespaces,
            landlock=self.landlock,
            program=syscalls.program() if self.seccomp else b"",
            user=runner_user(),
            readable=readable,
            modules=_inside(modules) if namespaces else modules,
            builds=bubblewrap.BUILDS if namespaces and builds else builds,
        )

    def command(self, interpreter: Interpreter, control: int, builds: str = "") -> list[str]:
        """Return the zygote's command; `control` is the descriptor of its socket."""
        modules = stand_in.folders()
        extra = [
            (folder, target)
            for (_, folder), (_, target) in zip(modules, _inside(modules), strict=True)
        ]
        if builds:
            extra.append((builds, bubblewrap.BUILDS))
        inside, packages, outer = INSIDE, interpreter.packages, []
        if self.bubblewrap:
            outer = bubblewrap.command(
                self.bubblewrap,
                interpreter,
                INSIDE,
                root=os.geteuid() == 0,
                fresh_proc=self.fresh_proc,
                extra=extra,
            )
            inside, packages = bubblewrap.INSIDE, bubblewrap.PACKAGES
        return [*outer, interpreter.program, "-I", "-S", inside, str(control), packages]


def _inside(modules: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Return packages with the folders in which they are bound."""
    return tuple((name, f"{bubblewrap.MODULES}/{name}") for name, _ in modules)


def runner_user() -> int | None:
    """Return the user id for this process's runners, None where it cannot be changed."""
    if os.geteuid() != 0:
        return None
    return _FIRST_RUNNER_USER + os.getpid() % _RUNNER_USERS
