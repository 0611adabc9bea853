"""The common part of timing on a processor and on a device: dialogue, samples, table row.

The judge offers an array, the runner says that it has it, the judge says go, and its clock runs
until the runner says that it is done. `judge.running.speed` and `gpu_worker.gpu.speed` define what
else happens at each frame.
"""

from __future__ import annotations

import statistics
import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from gpu_worker.judge.cases.case import Case
from gpu_worker.judge.diagnosis.search import JudgedCase
from gpu_worker.judge.running.execution import Stop
from gpu_worker.judge.verdict.transcript import Raised, Refused, problem_of
from gpu_worker.messages.protocol import Speed, SpeedRow
from gpu_worker.sandbox.client import RunResult
from gpu_worker.sandbox.inside.wire import Frame, FrameKind, WireError

ARRAYS_MOVED: Final[Mapping[str, int]] = {"forward": 2, "backward": 3}
"""How many arrays of x's size each direction must at least read or write."""
FASTEST_SHARE: Final = 1.05
"""A time below that of a copy by more than this factor is impossible."""
_IMPOSSIBLE: Final = (
    "This time is shorter than moving the bytes takes, so it cannot be right and is not counted."
)

Talk = Generator[None, tuple[Frame, float], None]
"""Takes each frame with the time at which it came; raises WireError at a wrong one."""


@dataclass(slots=True)
class Sample:
    """One call's times in seconds."""

    submission: float
    reference: float
    copy: float


@dataclass(slots=True)
class Timed:
    """What timing gave: the message, the first call that was wrong, and why it broke off.

    Too slow to be timed is no reason to break off: then `speed` is None, and nothing else.
    """

    speed: Speed | None = None
    failed: JudgedCase | None = None
    stop: Stop | None = None
    case: Case | None = None
    run: RunResult = field(default_factory=RunResult)


class TimedJob(Protocol):
    """The memory of a job with timed calls."""

    def stop(self) -> None:
        """Ask for no more calls."""


class TimedTalk(ABC):
    """The judge's side of the timed calls of one program; frames arrive one by one."""

    job: TimedJob

    def __init__(self) -> None:
        self.problem: Raised | Refused | None = None
        self.forged = ""
        """What was wrong with a frame that no runner writes; empty if none was."""
        self.finished = False
        self._talking = self._talk()

    @abstractmethod
    def _talk(self) -> Talk:
        """One call after the other."""

    def begin(self) -> None:
        """Offer the first array."""
        next(self._talking)

    def on_frame(self, frame: Frame) -> None:
        """Take a frame, with the time at which it came, and let the runner go on."""
        now = time.perf_counter()
        if self.forged or frame.kind is FrameKind.END:
            return
        if frame.kind in (FrameKind.RAISED, FrameKind.REFUSED):
            self.problem = problem_of(frame)
            return
        try:
            self._talking.send((frame, now))
        except StopIteration:
            self.finished = True
        except WireError as error:
            self.forged = str(error)
            self.job.stop()


def expect(frame: Frame, kind: FrameKind, position: int) -> None:
    """Raise WireError if a frame is another one."""
    if (frame.kind, frame.position) != (kind, position):
        raise WireError(f"a frame {frame.kind.name} where {kind.name} {position} belongs")


def speed_row(direction: str, samples: Sequence[Sample], best_copy: float, nbytes: int) -> SpeedRow:
    """Return the medians of a direction's samples, for an x of `nbytes`.

    A time that is shorter than the `best_copy` of all, in seconds, allows is refused.
    """
    # A copy reads and writes: two arrays.
    share = ARRAYS_MOVED[direction] / 2
    times = [sample.submission for sample in samples]
    of_copy = [min(1.0, share * sample.copy / sample.submission) for sample in samples]
    to_best = [sample.submission / sample.reference for sample in samples]
    impossible = min(times) * FASTEST_SHARE < share * best_copy
    return SpeedRow(
        direction=direction,
        calls=len(samples),
        ms=statistics.median(times) * 1e3,
        spread_ms=_spread(times) * 1e3,
        reference_ms=statistics.median(sample.reference for sample in samples) * 1e3,
        copy_ms=statistics.median(sample.copy for sample in samples) * 1e3,
        megabytes=ARRAYS_MOVED[direction] * nbytes / 1e6,
        copy_fraction=0.0 if impossible else statistics.median(of_copy),
        copy_fraction_spread=_spread(of_copy),
        times_reference=statistics.median(to_best),
        times_reference_spread=_spread(to_best),
        refused=_IMPOSSIBLE if impossible else "",
    )


def _spread(values: Sequence[float]) -> float:
    """Half the distance between the quartiles; of fewer than four values, between the extremes."""
    if len(values) < 4:
        return (max(values) - min(values)) / 2
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / 2
