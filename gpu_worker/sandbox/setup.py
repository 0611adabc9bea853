"""How to start a zygote: behind which walls, with which program."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
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

    @property
    def builds_kernels(self) -> bool:
        """True if the worker builds the kernels of runs, which then need a folder for them."""
        return bool(self.modules())

    def interpreter(self) -> Interpreter:
        """Return the Python of the zygote and its runners."""
        return Interpreter.current()

    def environment(self) -> Mapping[str, str]:
        """Return what the zygote's environment holds beyond the usual."""
        return {}

    def modules(self) -> tuple[tuple[str, str], ...]:
        """Return the packages that stand in for CuPy, with their folders."""
        return stand_in.folders()

    def devices(self) -> Sequence[tuple[str, str]]:
        """Return device nodes beyond the usual four, with their places inside."""
        return ()

    def walls(self, interpreter: Interpreter, builds: str = "") -> Walls:
        """Return what the zygote is told; `builds` is this machine's folder for built kernels.

        Raises:
            SandboxError: the seccomp filter cannot be made.
        """
        namespaces = bool(self.bubblewrap)
        readable = bubblewrap.readable(interpreter)
        modules = self.modules()
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
        modules = self.modules()
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
                devices=self.devices(),
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
