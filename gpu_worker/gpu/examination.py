"""Examines a device in a child process: its properties and readings, or why it is unusable."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gpu_worker.gpu.inventory import Gpu

SECONDS: Final = 60.0
"""The first use of a device loads its driver and compiles a kernel."""
REAP_SECONDS: Final = 10.0
_KEPT: Final = ("PATH", "LD_LIBRARY_PATH", "CUDA_PATH", "PYTHONPATH", "LANG")


class UnusableError(Exception):
    """A device that does not work at present; the text says how that shows."""


class Facts(BaseModel):
    """What the probe found; see `probe.examine`. Readings are None where they cannot be had."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: Annotated[str, Field(max_length=200)]
    compute_capability: Annotated[str, Field(max_length=20)]
    cuda: Annotated[str, Field(max_length=40)]
    cuda_of_driver: Annotated[str, Field(max_length=40)]
    cupy: Annotated[str, Field(max_length=40)]
    memory_megabytes: Annotated[int, Field(ge=0)]
    free_megabytes: Annotated[int, Field(ge=0)]
    copy_gigabytes_per_second: Annotated[float, Field(gt=0)]
    temperature_celsius: int | None = None
    sm_clock_megahertz: int | None = None
    memory_clock_megahertz: int | None = None


def examine(gpu: Gpu, seconds: float = SECONDS) -> Facts:
    """Run the probe on a device.

    Raises:
        UnusableError: it cannot be opened, does not answer, fails, or computes wrongly.
    """
    if gpu.problem:
        raise UnusableError(gpu.problem)
    child = subprocess.Popen(  # noqa: S603  a list, no shell; our own module
        [sys.executable, "-m", "gpu_worker.gpu.probe", gpu.uuid],
        env=environment_of(gpu),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        output, words = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise UnusableError(_end(child, seconds)) from None
    if child.returncode:
        reason = words.decode("utf-8", "replace").strip()[-1_000:]
        how = f"with signal {-child.returncode}" if child.returncode < 0 else "with an error"
        raise UnusableError(f"The probe ended {how}: {reason or 'it gave no reason'}.")
    try:
        return Facts.model_validate_json(output)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise UnusableError(f"The probe's answer cannot be read: {first['msg']}.") from error


def environment_of(gpu: Gpu, kernels: str = "") -> dict[str, str]:
    """Return what a process of ours on a device gets: it alone, nothing of the queue.

    Compiled kernels are kept in the folder `kernels`, or for as long as the process lives.
    """
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {
        **kept,
        "CUDA_VISIBLE_DEVICES": gpu.uuid,
        **({"CUPY_CACHE_DIR": kernels} if kernels else {"CUPY_CACHE_IN_MEMORY": "1"}),
        "CUDA_CACHE_DISABLE": "1",
    }


def _end(child: subprocess.Popen[bytes], seconds: float) -> str:
    """Kill a probe that does not answer; return what to say of it."""
    child.kill()
    try:
        child.communicate(timeout=REAP_SECONDS)
    except subprocess.TimeoutExpired:
        return (
            f"The probe did not answer in {seconds:g} s and cannot be killed: the driver holds it. "
            "The machine may have to be restarted; look for Xid messages in the kernel's log."
        )
    return f"The probe did not answer in {seconds:g} s."
