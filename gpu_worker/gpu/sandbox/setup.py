"""Starts a zygote for runs with a device: the usual walls, and what a device needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gpu_worker.gpu.sandbox import syscalls as device_syscalls
from gpu_worker.gpu.sandbox.profile import OPEN_FILES, THREADS, DeviceProfile
from gpu_worker.sandbox import bubblewrap
from gpu_worker.sandbox.canary import Granted
from gpu_worker.sandbox.errors import RefusedError
from gpu_worker.sandbox.inside.device.library import KERNELS
from gpu_worker.sandbox.inside.device.walls import DeviceWalls
from gpu_worker.sandbox.inside.walls import Walls
from gpu_worker.sandbox.interpreter import Interpreter
from gpu_worker.sandbox.setup import Setup


@dataclass(frozen=True, slots=True)
class DeviceInterpreter(Interpreter):
    """The worker's Python with further packages."""

    further: tuple[str, ...] = ()

    def package_folders(self) -> list[str]:
        """Return the folders of all packages that runners find."""
        return [*Interpreter.package_folders(self), *self.further]


@dataclass(frozen=True, slots=True)
class DeviceSetup(Setup):
    """The walls of a machine's level around a device."""

    profile: DeviceProfile | None = None

    @classmethod
    def of(cls, usual: Setup, profile: DeviceProfile) -> DeviceSetup:
        """Return the setup for a device where the usual one holds for other runs.

        Raises:
            RefusedError: there are no namespaces, which a device's /proc and dumpable runner need.
        """
        if not (usual.bubblewrap and usual.seccomp):
            raise RefusedError(
                "Submissions run on a device only inside namespaces (isolation level A or A-); "
                "see docs/how-to/run-the-sandbox.md."
            )
        return cls(
            bubblewrap=usual.bubblewrap,
            fresh_proc=usual.fresh_proc,
            landlock=usual.landlock,
            seccomp=True,
            profile=profile,
        )

    @property
    def _profile(self) -> DeviceProfile:
        assert self.profile is not None  # noqa: S101  `of` sets it; a default is needed by order
        return self.profile

    @property
    def builds_kernels(self) -> bool:
        """False: CuPy builds them in the runner, by NVIDIA's own compiler."""
        return False

    @property
    def granted(self) -> Granted:
        """What a run with a device may do that no other may."""
        return Granted(
            possible=frozenset({"started a thread", "read the table of processes"}),
            environment=tuple(self._profile.environment()),
            dumpable=True,
            limits={"AS": None, "MEMLOCK": None, "NPROC": THREADS, "NOFILE": OPEN_FILES},
        )

    def interpreter(self) -> Interpreter:
        """Return the worker's Python with CuPy."""
        usual = Interpreter.current()
        return DeviceInterpreter(
            usual.program, usual.libraries, usual.packages, self._profile.packages
        )

    def environment(self) -> Mapping[str, str]:
        """Return where the zygote's loader finds the driver's libraries."""
        return self._profile.loader_path()

    def modules(self) -> tuple[tuple[str, str], ...]:
        """Return nothing: CuPy itself is there."""
        return ()

    def devices(self) -> Sequence[tuple[str, str]]:
        """Return the device's nodes."""
        return self._profile.nodes

    def walls(self, interpreter: Interpreter, builds: str = "") -> Walls:
        """Return the usual walls with the device's part.

        Raises:
            SandboxError: the seccomp filter cannot be made.
        """
        usual = Setup.walls(self, interpreter, builds)
        device = DeviceWalls(
            nodes=tuple(inside for _, inside in self._profile.nodes),
            environment=tuple(self._profile.environment().items()),
            threads=THREADS,
            open_files=OPEN_FILES,
            sealing=device_syscalls.sealing(),
        )
        return replace(
            usual,
            program=device_syscalls.program(),
            readable=(*usual.readable, *self._profile.libraries, KERNELS),
            device=device,
        )

    def command(self, interpreter: Interpreter, control: int, builds: str = "") -> list[str]:
        """Return the zygote's command, with the driver's libraries where they are here."""
        words = Setup.command(self, interpreter, control, builds)
        bound = [word for path in self._profile.libraries for word in bubblewrap.bind(path, path)]
        if self._profile.kernels:
            bound += bubblewrap.bind(self._profile.kernels, KERNELS)
        # Must come before the filesystem becomes read-only.
        place = words.index("--remount-ro")
        return [*words[:place], *bound, *words[place:]]
