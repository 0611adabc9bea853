"""The level of isolation on this machine: found by trying, stated plainly, refused if too low.

A        namespaces in bubblewrap, Landlock, seccomp
A-       the same without Landlock, where the kernel has none
B        Landlock and seccomp without namespaces: only if the operator allows it
process  limits only: on a developer's own machine, if asked for, never in production
"""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gpu_worker.sandbox import probe
from gpu_worker.sandbox.errors import RefusedError
from gpu_worker.sandbox.inside.layers import limits, namespaces
from gpu_worker.sandbox.probe import ProbeResult
from gpu_worker.sandbox.setup import Setup

ALLOW_NO_NAMESPACES: Final = "LEARNML_ALLOW_NO_NAMESPACES"
UNSAFE_DEVELOPMENT: Final = "LEARNML_UNSAFE_DEVELOPMENT"
_YES: Final = "1"
_DOCUMENTATION: Final = "docs/how-to/run-the-sandbox.md"

logger = logging.getLogger(__name__)


class Level(StrEnum):
    A = "A"
    A_MINUS = "A-"
    B = "B"
    PROCESS = "process"


@dataclass(frozen=True, slots=True)
class Isolation:
    """What stands between a submission and this machine. `warnings`: what is missing."""

    level: Level
    text: str
    setup: Setup
    warnings: tuple[str, ...] = ()

    @property
    def limits(self) -> dict[str, float]:
        """Return the limits that hold for every run, whatever the exercise, with their units."""
        fixed: dict[str, float] = {
            "processes": 1,
            "threads": 1,
            "open_files": limits.OPEN_FILES,
            "stack_megabytes": limits.STACK_BYTES >> 20,
        }
        if self.setup.bubblewrap:
            fixed["scratch_files"] = namespaces.SCRATCH_FILES
        return fixed


@functools.cache
def establish() -> Isolation:
    """Return the isolation of this machine; it is found out once per process and its forks.

    Raises:
        RefusedError: it is too low; the text says what is missing and how to get it.
    """
    isolation = _found()
    logger.info("Isolation of submissions: %s", isolation.text)
    for warning in isolation.warnings:
        logger.warning("%s", warning)
    return isolation


@functools.cache
def _found() -> Isolation:
    return _establish(os.environ)


def _establish(environment: Mapping[str, str]) -> Isolation:
    result = probe.with_namespaces()
    if result.setup:
        return _with_namespaces(result, result.setup)
    if environment.get(ALLOW_NO_NAMESPACES) == _YES:
        probe.without_namespaces(result)
        if result.setup:
            return _without_namespaces(result, result.setup)
    if environment.get(UNSAFE_DEVELOPMENT) == _YES:
        _refuse_in_production(environment)
        return _without_walls()
    raise RefusedError(_refusal(result))


def _with_namespaces(result: ProbeResult, setup: Setup) -> Isolation:
    if result.landlock:
        text = f"A: bubblewrap, namespaces, Landlock ABI {result.landlock}, seccomp"
        return Isolation(Level.A, text, setup)
    warning = (
        "ISOLATION A-: this kernel offers no Landlock, so one of three walls is missing. "
        "Linux 5.13 or newer with landlock among its security modules has it."
    )
    text = "A-: bubblewrap, namespaces, no Landlock, seccomp"
    return Isolation(Level.A_MINUS, text, setup, (warning,))


def _without_namespaces(result: ProbeResult, setup: Setup) -> Isolation:
    user = "" if os.geteuid() == 0 else " Submissions run as this worker's own user."
    warning = (
        f"ISOLATION B: {ALLOW_NO_NAMESPACES}=1 lets submissions run without namespaces: they "
        "share this machine's process table, network and files with the worker, and only "
        f"Landlock and seccomp keep them off.{user} Tried: {'; '.join(result.failures)}"
    )
    text = f"B: no namespaces, Landlock ABI {result.landlock}, seccomp"
    return Isolation(Level.B, text, setup, (warning,))


def _without_walls() -> Isolation:
    warning = (
        f"NOT A SANDBOX: {UNSAFE_DEVELOPMENT}=1 runs submitted code in a limited process, without "
        "namespaces, Landlock or seccomp. It can read this account's files and use the network. "
        "Grade nothing but your own code."
    )
    text = "process: UNSAFE, for development only; no namespaces, no Landlock, no seccomp"
    return Isolation(Level.PROCESS, text, Setup(scratch=True), (warning,))


def _refuse_in_production(environment: Mapping[str, str]) -> None:
    """Raise where other people's submissions may come from: a server's queue or settings."""
    settings = environment.get("DJANGO_SETTINGS_MODULE", "")
    if environment.get("REDIS_URL") or "production" in settings:
        raise RefusedError(
            f"{UNSAFE_DEVELOPMENT}=1 is for a developer's own machine. This worker serves a queue "
            "that others can reach, so it refuses to run submissions without a sandbox. Unset "
            f"it, and see {_DOCUMENTATION}."
        )


def _refusal(result: ProbeResult) -> str:
    tried = "".join(f"\n  - {failure}" for failure in result.failures)
    landlock = (
        f"Landlock is here (ABI {result.landlock})"
        if result.landlock
        else "Landlock is missing (it needs Linux 5.13 or newer, with landlock among its security "
        "modules)"
    )
    lower = (
        f" With Landlock and seccomp alone, level B, a worker starts if {ALLOW_NO_NAMESPACES}=1."
        if result.landlock
        else ""
    )
    return (
        "This worker refuses to start: it cannot isolate submissions on this machine. "
        f"{landlock}. What was tried:{tried}\n"
        "What to do: install bubblewrap and libseccomp (apt-get install bubblewrap libseccomp2); "
        "allow user namespaces to ordinary users (sysctl kernel.unprivileged_userns_clone=1, on "
        "Ubuntu kernel.apparmor_restrict_unprivileged_userns=0); in a container, use the seccomp "
        f"profile deploy/seccomp-worker.json.{lower} {_DOCUMENTATION} has the details."
    )


def level_text() -> str:
    """Return this machine's isolation in words, for receipts; unlike `establish`, logs nothing.

    Found out once like there: putting up every wall on trial takes longer than a grading.

    Raises:
        RefusedError: it is too low.
    """
    return _found().text


def level_limits() -> dict[str, float]:
    """Return the limits that hold for every run on this machine, for receipts.

    Raises:
        RefusedError: its isolation is too low.
    """
    return _found().limits
