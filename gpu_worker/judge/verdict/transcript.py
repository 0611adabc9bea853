"""Sorts the frames of a run into cases. Their order is fixed; any other order means forgery."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpu_worker.judge.cases.case import Case
from gpu_worker.sandbox.inside import wire
from gpu_worker.sandbox.inside.script import CALLS
from gpu_worker.sandbox.inside.wire import Frame, FrameKind, Reason, WireError

COMPILE_ERROR: Final = "CompileException"
"""Said in words where a learner reads it: the message beside it is the compiler's."""
KERNEL_ERRORS: Final = (COMPILE_ERROR, "CUDADriverError", "KernelsUnavailableError")
"""What the stand-in for CuPy raises for kernels."""
DEVICE_ERRORS: Final = ("CUDARuntimeError", "NVRTCError")
"""What CuPy raises beyond that where work on a device fails."""
_KNOWN_ERRORS: Final = (
    frozenset(
        name
        for name, value in vars(builtins).items()
        if isinstance(value, type) and issubclass(value, BaseException)
    )
    | {"LinAlgError", "AxisError", "ForbiddenImportError", "RecursionError"}
    | {*KERNEL_ERRORS, *DEVICE_ERRORS}
)
_COPIED_BYTES: Final = 4_096
"""Up to this size, copying two arrays costs less than comparing them in place."""
_REASONS: Final = frozenset(int(reason) for reason in Reason)


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception of the learner's code; all fields are his word.

    `name` is that of a standard exception, or "Exception": a class's own name could carry
    anything. `line` is 0 where unknown.
    """

    name: str
    message: str
    traceback: str
    line: int


@dataclass(frozen=True, slots=True)
class Refused:
    """The class does not follow the contract. `position` is that of the operation, in the case."""

    reason: Reason
    text: str
    position: int = 0


@dataclass(slots=True)
class PlayedCase:
    """What came back of one case. `again`: the same results, read once more at its end.

    `inputs`: the contents of each at the end, None if they did not change. `called` is
    the position of the last operation for which the class was called, -1 for none.
    """

    results: list[NDArray[Any]] = field(default_factory=list)
    again: list[NDArray[Any]] = field(default_factory=list)
    inputs: list[NDArray[Any] | None] = field(default_factory=list)
    problem: Raised | Refused | None = None
    complete: bool = False
    called: int = -1


@dataclass(slots=True)
class Transcript:
    """A run's cases, as far as it came. `loading`: why the file could not even be loaded."""

    cases: list[PlayedCase] = field(default_factory=list)
    loading: Raised | Refused | None = None
    ended: bool = False
    forged: str = ""


def read_transcript(frames: Sequence[Frame], cases: Sequence[Case]) -> Transcript:
    """Sort the frames of one run of these cases; never raises for what the runner sent."""
    transcript = Transcript()
    # Requests for builds and notes are kept apart from the results.
    stream = iter(
        [frame for frame in frames if frame.kind not in (FrameKind.BUILD, FrameKind.NOTES)]
    )
    try:
        _read(stream, cases, transcript)
    except WireError as error:
        transcript.forged = str(error)
    return transcript


def _read(stream: Iterator[Frame], cases: Sequence[Case], transcript: Transcript) -> None:
    """Read until the frames are used up; returns early where they are too few.

    Raises:
        WireError: a frame that cannot stand where it does.
    """
    frame = next(stream, None)
    if frame and frame.case == wire.LOADING:
        transcript.loading = problem_of(frame)
        frame = next(stream, None)
    else:
        for number, case in enumerate(cases):
            if frame is None:
                return
            _expect(frame, FrameKind.BEGIN, number)
            played = PlayedCase()
            transcript.cases.append(played)
            _read_case(stream, case, number, played)
            frame = next(stream, None)
    if frame is None:
        return
    _expect(frame, FrameKind.END, 0)
    transcript.ended = True


def _read_case(stream: Iterator[Frame], case: Case, number: int, played: PlayedCase) -> None:
    for store, position in _awaited(case, played):
        frame = next(stream, None)
        if frame is None:
            return
        if frame.kind in (FrameKind.REFUSED, FrameKind.RAISED) and frame.case == number:
            played.problem = problem_of(frame)
            return
        if store is None:
            _expect(frame, FrameKind.CALL, number, position)
            played.called = position
        elif store is played.inputs and frame.kind is FrameKind.AS_GIVEN:
            _expect(frame, FrameKind.AS_GIVEN, number, position)
            played.inputs.append(None)
        else:
            _expect(frame, FrameKind.ARRAY, number, position)
            store.append(wire.decode_array(frame.payload))
    played.complete = True


def _awaited(case: Case, played: PlayedCase) -> Iterator[tuple[list[Any] | None, int]]:
    """Yield what a case sends, in order: where an array belongs, None for a call; its place."""
    operations = case.script.operations
    for position, operation in enumerate(operations):
        if operation.kind in CALLS:
            yield None, position
        if operation.send:
            yield played.results, position
    if case.script.resend:
        yield from ((played.again, place) for place, op in enumerate(operations) if op.send)
    yield from ((played.inputs, place) for place in range(len(case.script.arrays)))


def _expect(frame: Frame, kind: FrameKind, case: int, position: int = 0) -> None:
    if (frame.kind, frame.case, frame.position) != (kind, case, position):
        raise WireError(f"a frame {frame.kind.name} where {kind.name} belongs")


def problem_of(frame: Frame) -> Raised | Refused:
    """Return what a frame RAISED or REFUSED says.

    Raises:
        WireError: it is neither, or malformed.
    """
    payload = frame.payload
    if frame.kind is FrameKind.RAISED and len(payload) >= 4:
        name, message, trace = wire.decode_text(payload[4:], 3)
        safe = name if name in _KNOWN_ERRORS else _nearest_error(name)
        return Raised(safe, message, trace, int.from_bytes(payload[:4], "little"))
    if frame.kind is FrameKind.REFUSED and payload and payload[0] in _REASONS:
        (text,) = wire.decode_text(payload[1:], 1)
        return Refused(Reason(payload[0]), text, frame.position)
    raise WireError(f"a frame {frame.kind.name} where a problem belongs")


def _nearest_error(name: str) -> str:
    return "MemoryError" if name in ("_ArrayMemoryError", "OutOfMemoryError") else "Exception"


def same_bytes(left: NDArray[Any], right: NDArray[Any]) -> bool:
    """True if dtype, shape and every bit agree; NaN equals the same NaN."""
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    if left.nbytes <= _COPIED_BYTES:
        return left.tobytes() == right.tobytes()
    return np.array_equal(left.ravel().view(np.uint8), right.ravel().view(np.uint8))
