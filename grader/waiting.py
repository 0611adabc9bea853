"""Position and estimated waiting time of an open verdict, and whether a node is there for it.

Reads only. The estimate uses the median of the latest gradings, so that one slow one has little
effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from statistics import median

from django.db.models import F

from . import queries
from .models import AttemptState, Graded, GradingAttempt, NodeKind, Submission, Track

LATEST_GRADINGS = 20
USABLE_GPU_STATES = frozenset({"ready", "busy"})


class Nodes(StrEnum):
    """Whether nodes of a kind that grade a track are connected and usable."""

    CONNECTED = "connected"
    UNUSABLE = "unusable"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Waiting:
    """The state of an open verdict. `position` 1 is served next.

    `position` is None once a worker has it; `seconds` is the time until the verdict, None where
    unknown.
    """

    nodes: Nodes
    position: int | None = None
    seconds: float | None = None
    unreachable: bool = False


def waiting_for(submission: Submission, verdict: Graded) -> Waiting | None:
    """Return the state of an open verdict of the submission; None once it is there."""
    if verdict.is_final:
        return None
    attempt = queries.open_attempt(submission, verdict.kind)
    nodes, lanes = _nodes(verdict.kind, submission.track)
    if attempt is None or attempt.state != AttemptState.QUEUED:
        return Waiting(nodes)
    ahead = queries.attempts_ahead(attempt)
    return Waiting(
        nodes,
        position=ahead + 1,
        seconds=_estimate(attempt, ahead, lanes),
        unreachable=queries.queue_is_unreachable(attempt),
    )


def nodes_for(kind: str, track: str) -> Nodes:
    """Return whether nodes of the kind grade the track at the moment."""
    return _nodes(kind, track)[0]


def tracks_available() -> set[str]:
    """Return the tracks with a live worker for the verdict that counts."""
    return {track.value for track in Track if nodes_for(track.kind, track.value) is Nodes.CONNECTED}


def _nodes(kind: str, track: str) -> tuple[Nodes, int]:
    """Return the state of the nodes, and how many gradings they do at once."""
    living = queries.live_nodes().filter(queue=NodeKind(kind).queue)
    nodes = list(living.values_list("tracks", "gpus"))
    grading = [gpus for tracks, gpus in nodes if track in tracks]
    if not grading:
        return (Nodes.UNUSABLE if nodes and kind == NodeKind.DEVICE else Nodes.NONE), 0
    if kind != NodeKind.DEVICE:
        return Nodes.CONNECTED, len(grading)
    usable = sum(gpu["state"] in USABLE_GPU_STATES for gpus in grading for gpu in gpus)
    return Nodes.CONNECTED, max(usable, 1)


def _estimate(attempt: GradingAttempt, ahead: int, lanes: int) -> float | None:
    took = [duration.total_seconds() for duration in _latest_durations(attempt.kind)]
    if not took or not lanes:
        return None
    return median(took) * (ahead // lanes + 1)


def _latest_durations(kind: str) -> list[timedelta]:
    """Return how long the latest gradings of a kind of node took, from claim to verdict."""
    done = GradingAttempt.objects.filter(
        kind=kind, state=AttemptState.FINISHED, claimed_at__isnull=False, finished_at__isnull=False
    )
    took = done.annotate(took=F("finished_at") - F("claimed_at")).order_by("-id")
    return list(took.values_list("took", flat=True)[:LATEST_GRADINGS])
