"""The judge's way into the sandbox: a zygote behind the walls that this machine can put up."""

from __future__ import annotations

from gpu_worker.sandbox import canary, isolation
from gpu_worker.sandbox.errors import SandboxError
from gpu_worker.sandbox.run import (
    GRACE_SECONDS,
    OUTPUT_DRAIN_BYTES,
    PATIENCE_SECONDS,
    Request,
    RunResult,
)
from gpu_worker.sandbox.setup import Setup
from gpu_worker.sandbox.zygote import ZygoteProcess

__all__ = (
    "GRACE_SECONDS",
    "OUTPUT_DRAIN_BYTES",
    "PATIENCE_SECONDS",
    "Request",
    "RunResult",
    "SandboxError",
    "Zygote",
)


class Zygote(ZygoteProcess):
    """A zygote at this machine's level of isolation.

    Every zygote runs the canary before its first job, so that a wall that fell since the worker
    started is noticed.
    """

    def __init__(self) -> None:
        # The level is determined when first needed, which takes some tenths of a second.
        super().__init__(Setup())

    def start(self) -> None:
        """Start the zygote if it does not run, and let the canary try its walls.

        Raises:
            RefusedError: this machine cannot isolate submissions.
            SandboxError: the zygote did not come up, or the canary broke out.
        """
        if self.is_running:
            return
        self._setup = isolation.establish().setup
        super().start()
        if self._setup.seccomp and (found := canary.breaches(self, self._setup)):
            self.close()
            raise SandboxError(f"A test submission broke out: {'; '.join(found)}.")
