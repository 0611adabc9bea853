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
class Findings:
    """What the probe found. `failures`: what was tried in vain, and why, in words."""

    landlock: int = 0
    seccomp: bool = True
    setup: Setup | None = None
    failures: list[str] = field(default_factory=list)


def with_namespaces() -> Findings:
    """Look for a setup with namespaces and seccomp, and Landlock if the kernel has it."""
    findings = Findings(landlock=landlock.version())
    for setup in _setups(findings):
        name = f"{setup.bubblewrap} with {'a new' if setup.fresh_proc else 'the present'} /proc"
        if _works(setup, name, findings):
            break
    if not bubblewrap.programs():
        findings.failures.append("bubblewrap (bwrap) is not installed")
    return findings


def without_namespaces(findings: Findings) -> None:
    """Look for a setup with Landlock and seccomp only, and add it to the findings."""
    setup = Setup(landlock=findings.landlock, seccomp=True)
    if findings.landlock:
        _works(setup, "Landlock and seccomp without namespaces", findings)


def _setups(findings: Findings) -> Iterator[Setup]:
    for program in bubblewrap.programs():
        for fresh_proc in (True, False):
            yield Setup(program, fresh_proc, findings.landlock, seccomp=True)


def _works(setup: Setup, name: str, findings: Findings) -> bool:
    try:
        with ZygoteProcess(setup) as zygote:
            zygote.start()
            found = canary.breaches(zygote, setup)
    except SandboxError as error:
        findings.failures.append(f"{name}: {error}")
        return False
    if found:
        findings.failures.append(f"{name}: a test submission broke out: {'; '.join(found)}")
        return False
    findings.setup = setup
    return True
