"""Gathers counts and diagnostics while kernels run, until the harness takes them as notes.

They inform the learner and come from the process of the learner's own code, so the judge lets none
of them decide a verdict: that rests on the bytes of the results.
"""

from __future__ import annotations

import json
from typing import Any, Final

from . import traffic
from .executor import Diagnostic, LaunchReport, cause_rank
from .launch_sums import LaunchSums

MAX_DIAGNOSTICS: Final = 32
MAX_KERNELS: Final = 32
MAX_MESSAGE_CHARACTERS: Final = 1_500
MAX_WORDS: Final = 1_000

_diagnostics: dict[tuple[str, str, int, int], dict[str, Any]] = {}
_faults: list[str] = []
_kernels: dict[tuple[int, str], LaunchSums] = {}
"""By build and name: two sources may each have a kernel of one name."""


def add(diagnostic: Diagnostic, build: int) -> None:
    """Keep a diagnostic of a kernel of a build, the worst of its kind at its line.

    What is about arguments of a launch is kept for each argument.
    """
    fields = diagnostic.as_dict()
    detail = fields.pop("detail")
    key = (fields["kind"], fields["kernel"], fields["line"] or 0, int(detail.get("argument", 0)))
    known = _diagnostics.get(key)
    is_worse = known is not None and (known["severity"], fields["severity"]) == ("warning", "error")
    if is_worse or (known is None and len(_diagnostics) < MAX_DIAGNOSTICS):
        fields["message"] = str(fields["message"])[:MAX_MESSAGE_CHARACTERS]
        if "argument" in detail or "count" in detail:
            fields["arguments"] = {
                name: value[:MAX_WORDS] if isinstance(value, str) else value
                for name, value in detail.items()
            }
        _diagnostics[key] = {**fields, "build": build}
    if fields["severity"] == "error":
        _faults.append(fields["kind"])


def launched(
    name: str, grid: tuple[int, ...], block: tuple[int, ...], shared_mem: int,
    report: LaunchReport, build: int, *, generated: bool,
) -> None:  # fmt: skip
    """Count one launch of a kernel. `generated`: its source was written around expressions."""
    counters = report.counters
    traffic.count_kernel(counters.global_bytes_read, counters.global_bytes_written)
    key = (build, name)
    if key not in _kernels:
        if len(_kernels) >= MAX_KERNELS:
            return
        _kernels[key] = LaunchSums(name, build, generated=generated)
    _kernels[key].add(grid, block, shared_mem, counters)


def fault() -> str:
    """Return the kind of the worst error that did not end its launch, once; empty for none.

    What causes others is worse than they, and of the rest the first.
    """
    first = min(_faults, key=cause_rank, default="")
    _faults.clear()
    return first


def take() -> dict[str, Any]:
    """Return all that was counted and found since the last time, and begin anew."""
    counts = traffic.take()
    notes: dict[str, Any] = {}
    if any(counts.as_dict().values()):
        notes["counts"] = counts.as_dict()
    if _kernels:
        notes["kernels"] = [kernel.as_dict() for kernel in _kernels.values()]
    if _diagnostics:
        notes["diagnostics"] = list(_diagnostics.values())
    _diagnostics.clear()
    _kernels.clear()
    _faults.clear()
    return json.loads(json.dumps(notes)) if notes else {}
