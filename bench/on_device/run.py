"""All that is measured on a device, within a budget."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from typing import Any, Final

from bench.on_device import agreement, cells, correctness, plan
from bench.on_device.api import Device
from bench.on_device.budget import Budget
from bench.on_device.contenders import CLASSES, KINDS, Kind
from bench.on_device.programs import EXERCISES, Program
from bench.on_device.timing import Rules

SECONDS: Final = 450.0
"""Eight minutes, less what leaving takes."""
CORRECTNESS_SHARE: Final = 0.2
AGREEMENT_SHARE: Final = 0.1
_PACKAGES: Final = ("numpy", "ml_dtypes", "torch", "triton", "liger-kernel")


@dataclass(frozen=True, slots=True)
class Scope:
    """What is to be done; all of it unless told otherwise."""

    dtypes: tuple[str, ...] = correctness.DTYPES
    cases: Sequence[correctness.Case] | None = None
    programs: Sequence[Program] | None = None
    cells: Sequence[plan.Cell] | None = None
    kinds: Sequence[Kind] = KINDS
    rules: Rules = field(default_factory=Rules)


def measure(
    device: Device,
    budget: Budget,
    seed: int,
    recorded: Mapping[str, Any],
    scope: Scope | None = None,
    on_progress: Callable[[dict[str, Any]], None] = lambda results: None,
) -> dict[str, Any]:
    """Return everything that was found, and what was left out.

    `on_progress` is called with what there is so far, so that a device that hangs later takes
    nothing with it.
    """
    scope = scope or Scope()
    results = _about(device, budget, seed)
    part = budget.part(CORRECTNESS_SHARE * budget.seconds)
    cases = correctness.all_cases(scope.dtypes) if scope.cases is None else scope.cases
    results["correctness"] = correctness.check(device, part, seed, iter(cases))
    part = budget.part(AGREEMENT_SHARE * budget.seconds)
    found = agreement.compare(device, part, recorded, scope.programs, scope.dtypes)
    results["agreement"] = found

    def save(times: list[dict[str, Any]]) -> None:
        spent = round(budget.spent(), 1)
        results.update(times=times, seconds=spent, left_out=budget.left_out)
        on_progress(results)

    timed = tuple(name for name in plan.DTYPES if name in scope.dtypes)
    chosen = plan.cells(dtypes=timed) if scope.cells is None else scope.cells
    save([])
    save(cells.time_cells(device, budget, chosen, scope.kinds, scope.rules, seed, save))
    return results


def _about(device: Device, budget: Budget, seed: int) -> dict[str, Any]:
    """Return what was measured on, with what."""
    return {
        "began_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": 0.0,
        "seconds_allowed": budget.seconds,
        "seed": seed,
        "device": asdict(device.identity()),
        "python": platform.python_version(),
        "packages": _versions(),
        "kernels_sha256": {slug: _digest(slug) for slug in CLASSES},
    }


def is_right(results: Mapping[str, Any]) -> bool:
    """True if something was checked and nothing was found wrong."""
    right, agreed = results["correctness"], results["agreement"]
    return bool(right["cases"] and not right["failed"] and agreed["agree"])


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _digest(slug: str) -> str:
    return hashlib.sha256((EXERCISES / slug / "kernels.cu").read_bytes()).hexdigest()
