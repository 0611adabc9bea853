"""Finds out which walls this machine can put up, by putting them up and letting the canary try."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from gpu_worker.sandbox import bubblewrap, canary
from gpu_worker.sandbox.errors import SandboxError
from gpu_worker.sandbox.inside.layers import landlock
from gpu_worker.sandbox.setup import Setup
from gpu_worker.sandbox.zygote import ZygoteProcess


@dataclass(slots=True)
class ProbeResult:
    """What the probe found. `failures`: what was tried in vain, and why, in words."""

    landlock: int = 0
    seccomp: bool = True
    setup: Setup | None = None
    failures: list[str] = field(default_factory=list)


def with_namespaces() -> ProbeResult:
    """Look for a setup with namespaces and seccomp, and Landlock if the kernel has it."""
    result = ProbeResult(landlock=landlock.version())
    for setup in _setups(result):
        name = f"{setup.bubblewrap} with {'a new' if setup.fresh_proc else 'the present'} /proc"
        if _works(setup, name, result):
            break
    if not bubblewrap.programs():
        result.failures.append("bubblewrap (bwrap) is not installed")
    return result


def without_namespaces(result: ProbeResult) -> None:
    """Look for a setup with Landlock and seccomp only, and add it to the result."""
    setup = Setup(landlock=result.landlock, seccomp=True)
    if result.landlock:
        _works(setup, "Landlock and seccomp without namespaces", result)


def _setups(result: ProbeResult) -> Iterator[Setup]:
    for program in bubblewrap.programs():
        for fresh_proc in (True, False):
            yield Setup(program, fresh_proc, result.landlock, seccomp=True)


def _works(setup: Setup, name: str, result: ProbeResult) -> bool:
    try:
        with ZygoteProcess(setup) as zygote:
            zygote.start()
            found = canary.breaches(zygote, setup)
    except SandboxError as error:
        result.failures.append(f"{name}: {error}")
        return False
    if found:
        result.failures.append(f"{name}: a test submission broke out: {'; '.join(found)}")
        return False
    result.setup = setup
    return True
