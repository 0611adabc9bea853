"""Grades stored submissions on the device, through sandbox and judge, as a node does.

Correct ones, the cheats and faults stored for a device, and the wrong ones of the CuPy track. What
a submission must come to is in its header. Needs the worker's packages and bubblewrap beside CuPy:
where they are missing, nothing is graded, and that is said.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from bench.on_device.budget import Budget

_FIRST_SECONDS = 20.0
"""What the first grading may take; later ones as long as the longest before."""


class Item(Protocol):
    """A stored submission, as `gpu_worker.exercises.stored` reads it."""

    @property
    def id(self) -> str: ...

    slug: str
    source: str
    outcomes: Sequence[Any]


Grade = Callable[[Any], tuple[str, dict[str, Any]]]
"""Grades an item; returns its outcome, and what of the report is kept."""


def stored_items() -> list[Any]:
    """Return what is graded: the cheats for a device first, of the rest one of each by turns."""
    from gpu_worker.exercises import get, slugs
    from gpu_worker.exercises.stored import stored, stored_for_device
    from gpu_worker.messages.protocol import Track

    cupy = [get(slug) for slug in slugs() if Track.CUPY in get(slug).tracks]
    correct = [item for one in cupy for item in stored(one, "correct", Track.CUPY)]
    wrong = [item for one in cupy for item in stored(one, "wrong", Track.CUPY)]
    made = [item for one in cupy for item in stored_for_device(one)]
    return [*correct[:2], *made, *correct[2:], *wrong]


def grade_all(
    budget: Budget,
    grade: Grade,
    items: Iterable[Any],
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, Any]:
    """Grade the items as long as there is time; return what came of each.

    A wrong program of the CuPy track may end otherwise than on a processor, which looks at each
    access: on a device it must not be accepted, and what it comes to is kept.
    """
    found: dict[str, Any] = {}
    longest = _FIRST_SECONDS
    pending = list(items)
    for number, item in enumerate(pending):
        if budget.left() < longest:
            budget.leave_out(
                "grading",
                f"{len(pending) - number} of {len(pending)} submissions, for want of time",
            )
            break
        begun = clock()
        try:
            outcome, kept = grade(item)
        except Exception as error:  # noqa: BLE001  a node's failure is a finding, not the end
            outcome, kept = f"{type(error).__name__}: {error}"[:500], {}
        seconds = clock() - begun
        longest = max(seconds, longest) if number else seconds
        found[item.id] = {
            "outcome": outcome,
            "expected": [str(one) for one in item.outcomes],
            "right": is_right(item, outcome),
            "seconds": round(seconds, 2),
            **kept,
        }
    wrong = [name for name, one in found.items() if not one["right"]]
    return {"submissions": found, "of": len(pending), "wrong": wrong}


def is_right(item: Any, outcome: str) -> bool:
    """True if a submission ended as it must on a device."""
    if getattr(item, "device", "") or item.kind == "correct":
        return outcome in [str(one) for one in item.outcomes]
    # The header is about a processor: there, for example, a race that gave right numbers counts.
    return outcome not in ("accepted", "not_gradable", "flagged") and ":" not in outcome


def prepare(gpus: Iterable[Any], seconds: float) -> str:
    """Compile ahead what submissions need, as a node does at its start; return what went wrong."""
    from gpu_worker.gpu.examination import UnusableError, examine
    from gpu_worker.gpu.lock import BusyError, device_lock
    from gpu_worker.gpu.warming import warm, warmed

    for gpu in gpus:
        try:
            with device_lock(gpu.uuid):
                facts = examine(gpu)
                warm(gpu, facts, seconds)
        except (BusyError, UnusableError, OSError) as error:
            return str(error)[:500]
        if not warmed(facts):
            return f"not done within {seconds:.0f} s, or it failed"
    return ""


def on_this_machine() -> tuple[Grade | None, str]:
    """Return what grades on a device of this machine, or None and why nothing can be graded."""
    try:
        from gpu_worker.gpu.lane import Lane
        from gpu_worker.messages.protocol import GradeJob, NodeKind, Track
        from gpu_worker.sandbox import isolation
    except ImportError as error:
        return None, f"the worker's packages are not all installed ({error})"
    try:
        setup = isolation.establish().setup
    except RuntimeError as error:
        return None, f"submissions cannot be isolated here: {error}"[:500]
    if not setup.bubblewrap:
        return None, "there are no namespaces here, which runs on a device need"
    lane = Lane()

    def grade(item: Any) -> tuple[str, dict[str, Any]]:
        job = GradeJob(
            submission="bench",
            lease="bench",
            kind=NodeKind.DEVICE,
            attempt=1,
            exercise=item.slug,
            track=Track.CUPY,
            source=item.source,
        )
        graded = lane.grade(job, "bench")
        report = graded.report
        kept: dict[str, Any] = {"score": graded.score}
        if report.failure:
            kept["failure"] = report.failure.message[:500]
        if report.speed:
            kept["speed"] = report.speed.to_message()
        return str(graded.outcome), kept

    return grade, ""
