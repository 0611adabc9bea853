"""A zygote whose runs use one device."""

from __future__ import annotations

import dataclasses

from gpu_worker.gpu.sandbox.profile import DeviceProfile
from gpu_worker.gpu.sandbox.setup import DeviceSetup
from gpu_worker.sandbox import canary, isolation
from gpu_worker.sandbox.client import Zygote
from gpu_worker.sandbox.errors import SandboxError
from gpu_worker.sandbox.run import Request, RunResult
from gpu_worker.sandbox.zygote import ZygoteProcess

GRACE_SECONDS = 15.0
"""A killed process that has work on a device goes only when the driver lets go of it."""


class DeviceZygote(Zygote):
    """Starts runs that have the device of a profile, and no other.

    `ender` is a descriptor that ends a run when something is read from it, None for none.
    """

    def __init__(self, profile: DeviceProfile) -> None:
        super().__init__()
        self.profile = profile
        self.ender: int | None = None

    def start(self) -> None:
        """Start the zygote if it does not run, and let the canary try its walls.

        Raises:
            RefusedError: this machine cannot isolate submissions well enough for a device.
            SandboxError: the zygote did not come up, or the canary broke out.
        """
        if self.is_running:
            return
        setup = DeviceSetup.of(isolation.establish().setup, self.profile)
        self._setup = setup
        ZygoteProcess.start(self)
        if found := canary.breaches(self, setup, setup.granted):
            self.close()
            raise SandboxError(f"A test submission broke out: {'; '.join(found)}.")

    def run(self, request: Request) -> RunResult:
        """Run one job in a fresh runner.

        Raises:
            SandboxError: the zygote or the supervisor failed, or a run cannot be ended.
        """
        self.start()
        return super().run(
            dataclasses.replace(request, ender=self.ender, grace_seconds=GRACE_SECONDS)
        )
