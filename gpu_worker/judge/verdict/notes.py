"""Reads the notes that a runner sends beside its results, strictly. None of it is trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gpu_worker.sandbox.inside.wire import Frame, FrameKind, WireError

MAX_FRAMES = 2_000
_Count = Annotated[int, Field(ge=0, le=1 << 62)]
_Extents = Annotated[list[Annotated[int, Field(ge=0, le=1 << 40)]], Field(max_length=3)]


class _Note(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, extra="ignore", frozen=True)


class Counts(_Note):
    """Bytes through global memory, and launches, of all operations of a call."""

    bytes_read: _Count
    bytes_written: _Count
    launches: _Count


class Access(_Note):
    """What the accesses of one source line to one kind of memory came to. A request is one
    instruction of a warp, `bytes` is what those of the sample ask for together.
    """

    line: int | None
    space: Annotated[str, Field(max_length=16)]
    write: bool
    bytes: _Count = 0
    requests: _Count = 0
    sectors: _Count
    ideal_sectors: _Count
    bank_conflicts: _Count


class ArrayTraffic(_Note):
    """What a kernel's launches read and wrote of one array that it was given, in so many loads and
    stores. `label` is the parameter's name, as the runner has it. `again_read` and `again_written`
    are beyond the array's size, launch by launch, and `most_read` is what one launch read at most.
    """

    place: _Count
    label: Annotated[str, Field(max_length=400)] = ""
    nbytes: _Count
    bytes_read: _Count
    bytes_written: _Count
    reads: _Count = 0
    writes: _Count = 0
    again_read: _Count = 0
    again_written: _Count = 0
    most_read: _Count = 0

    @property
    def at_once(self) -> float | None:
        """Bytes that a load or a store of a thread moves of it, of the two what moves less; None
        where nothing was moved.
        """
        ways = ((self.bytes_read, self.reads), (self.bytes_written, self.writes))
        return min((moved / times for moved, times in ways if times), default=None)


class Counters(_Note):
    """The executor's counters of a kernel's launches in a call, added up; `accesses` are of the
    launch whose size is told.
    """

    barriers: _Count
    global_bytes_read: _Count
    global_bytes_written: _Count
    accesses: Annotated[list[Access], Field(max_length=512)] = []
    arrays: Annotated[list[ArrayTraffic], Field(max_length=64)] = []


class KernelNote(_Note):
    """One kernel's launches in a call: the size is that of the largest. `generated`: its source was
    written around expressions.
    """

    name: Annotated[str, Field(max_length=200)]
    build: Annotated[int, Field(ge=0, le=0xFFFF)]
    grid: _Extents
    block: _Extents
    shared_mem: _Count
    launches: Annotated[int, Field(ge=1, le=1 << 30)]
    generated: bool = False
    counters: Counters


class ArgumentsNote(_Note):
    """What was wrong with a launch's arguments: one of them, whose number counts from 1, or that
    `given` are not the `count` that the kernel takes.
    """

    argument: Annotated[int, Field(ge=0, le=4_096)] = 0
    name: Annotated[str, Field(max_length=1_000)] = ""
    passed: Annotated[str, Field(max_length=1_000)] = ""
    taken: Annotated[str, Field(max_length=1_000)] = ""
    given: Annotated[int, Field(ge=0, le=1 << 30)] = 0
    count: Annotated[int, Field(ge=0, le=4_096)] = 0
    listed: Annotated[str, Field(max_length=1_000)] = ""


class DiagnosticNote(_Note):
    """Something found in a kernel."""

    kind: Annotated[str, Field(max_length=64)]
    severity: Annotated[str, Field(max_length=16)]
    kernel: Annotated[str, Field(max_length=400)]
    line: int | None
    message: Annotated[str, Field(max_length=4_000)]
    build: Annotated[int, Field(ge=0, le=0xFFFF)]
    arguments: ArgumentsNote | None = None


class Notes(_Note):
    """One NOTES frame."""

    counts: Counts | None = None
    kernels: Annotated[list[KernelNote], Field(max_length=64)] = []
    diagnostics: Annotated[list[DiagnosticNote], Field(max_length=64)] = []


@dataclass(frozen=True, slots=True)
class Noted:
    """Notes, with the case and the operation that they belong to."""

    case: int
    position: int
    notes: Notes


def read_notes(frames: Sequence[Frame]) -> list[Noted]:
    """Return the notes of a run.

    Raises:
        WireError: they are malformed or too many, which no honest runner's are.
    """
    found = [frame for frame in frames if frame.kind is FrameKind.NOTES]
    if len(found) > MAX_FRAMES:
        raise WireError("more notes than any job asks for")
    try:
        return [
            Noted(frame.case, frame.position, Notes.model_validate_json(frame.payload, strict=True))
            for frame in found
        ]
    except ValidationError as error:
        raise WireError("notes that cannot be read") from error
