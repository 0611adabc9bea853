"""Messages between the site and the workers: versioned, typed, strictly parsed.

A job carries everything that a worker needs; a worker answers with progress and one verdict.
Nothing here knows of Django. Times are durations in milliseconds (`_ms`) or Unix seconds (`_at`).
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

PROTOCOL_VERSION: Final = 1
MAX_SOURCE_BYTES = 64 * 1024
MAX_OUTPUT_CHARACTERS = 64 * 1024
MAX_PUBLIC_ELEMENTS: Final = 256

Short = Annotated[str, Field(max_length=200)]
Text = Annotated[str, Field(max_length=4_000)]
Identifier = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.:-]+$")]


class ProtocolError(ValueError):
    """A message that does not follow the protocol; its text says where."""


class Message(BaseModel):
    """Base of all messages: immutable, no unknown fields, no NaN, no silent conversion."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False
    )

    def to_message(self) -> dict[str, Any]:
        """Return plain JSON values, as they travel in the queue."""
        return self.model_dump(mode="json")

    @classmethod
    def from_message(cls, data: object) -> Self:
        """Parse what `to_message` made.

        Raises:
            ProtocolError: a field is missing, unknown, of another type or out of range.
        """
        try:
            # Parsed as JSON, strictly: enums are strings there, and "1" is no number.
            return cls.model_validate_json(json.dumps(data), strict=True)
        except (TypeError, ValueError) as error:
            if not isinstance(error, ValidationError):
                raise ProtocolError(f"{cls.__name__}: not plain JSON values: {error}") from error
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"]) or "message"
            raise ProtocolError(f"{cls.__name__}: {place}: {first['msg']}") from error


class Outcome(StrEnum):
    """How a grading ended. The same values in worker, database, API and pages."""

    ACCEPTED = "accepted"
    WRONG_ANSWER = "wrong_answer"
    CONTRACT_ERROR = "contract_error"
    RUNTIME_ERROR = "runtime_error"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    FLAGGED = "flagged"
    NOT_GRADABLE = "not_gradable"

    @property
    def counts_as_attempt(self) -> bool:
        """False only where the platform is at fault."""
        return self is not Outcome.NOT_GRADABLE


class Track(StrEnum):
    NUMPY = "numpy"
    CUPY = "cupy"


class NodeKind(StrEnum):
    """Which kind of node a verdict comes from: a processor runs kernels by what they compute."""

    FUNCTIONAL = "functional"
    DEVICE = "device"


class Phase(StrEnum):
    """Where a claimed job is, in order."""

    CLAIMED = "claimed"
    SETTING_UP = "setting_up"
    RUNNING = "running"
    COMPARING = "comparing"


class GradeJob(Message):
    """One grading attempt of one submission, as put on the queue `cpu` or `gpu`.

    What a worker answers carries the job's `kind`: the site takes a verdict for no other.
    """

    version: Literal[1] = PROTOCOL_VERSION
    submission: Identifier
    lease: Identifier
    kind: NodeKind = NodeKind.FUNCTIONAL
    attempt: Annotated[int, Field(ge=1, le=100)]
    exercise: Identifier
    track: Track
    source: Annotated[str, Field(max_length=MAX_SOURCE_BYTES)]
    cases: Literal["public", "all"] = "all"


class Progress(Message):
    """A sign of life from a worker; also its heartbeat while a job is claimed."""

    version: Literal[1] = PROTOCOL_VERSION
    submission: Identifier
    lease: Identifier
    kind: NodeKind = NodeKind.FUNCTIONAL
    node: Short
    phase: Phase
    case: Annotated[int, Field(ge=0, le=100_000)] = 0
    cases: Annotated[int, Field(ge=0, le=100_000)] = 0


class GroupResult(Message):
    """One weighted group of cases. `passed` is None where the run ended before the group."""

    id: Identifier
    title: Short
    weight: Annotated[float, Field(ge=0, le=1)]
    passed: bool | None
    cases: Annotated[int, Field(ge=0)]
    cases_passed: Annotated[int, Field(ge=0)]


class WorstCase(Message):
    """The first failing case's worst element, or the largest error where all passed.

    `expected` and `got` are decimal texts, so that nan and inf can be shown.
    `units` is the error in units of the tolerance; None where it is not finite.
    """

    group: Identifier
    family: Short
    shape: Annotated[list[int], Field(max_length=8)]
    dtype: Short
    layout: Short
    eps: float | None
    """None where the exercise's class has no eps."""
    quantity: Short
    index: Annotated[list[int], Field(max_length=8)]
    expected: Short
    got: Short
    units: float | None
    limit: float
    failed: bool
    histogram: Annotated[list[int], Field(max_length=64)] = []
    """Counts of elements per power-of-two bucket of units: <=0.25, 0.5, 1, 2, ... , rest."""


class PublicResult(Message):
    """One result of a public case, element by element, so that two gradings can be compared.

    `case` is the public case's id, `values` what the submission gave in C order, None where that
    is not finite; `units` says how large one unit is at each element, `limit` how many are allowed.
    """

    case: Identifier
    quantity: Identifier
    dtype: Short
    shape: Annotated[list[int], Field(max_length=8)]
    values: Annotated[list[float | None], Field(max_length=MAX_PUBLIC_ELEMENTS)]
    units: Annotated[list[Annotated[float, Field(ge=0)]], Field(max_length=MAX_PUBLIC_ELEMENTS)]
    limit: Annotated[float, Field(ge=0)]


class Mistake(Message):
    """A known mistake that explains every wrong result."""

    id: Identifier
    explanation: Text
    step: Identifier | None = None
    formula: Identifier | None = None
    line: Identifier | None = None
    test: Identifier | None = None


class Failure(Message):
    """Why grading could not simply compare: what is wrong, in a sentence, and where."""

    message: Text
    line: Annotated[int, Field(ge=1)] | None = None
    traceback: Annotated[str, Field(max_length=8_000)] = ""
    limit: Short = ""
    measured: Short = ""


class Timing(Message):
    phase: Short
    ms: Annotated[float, Field(ge=0)]


PLAIN_NUMPY: Final = "the best plain NumPy"


class SpeedRow(Message):
    """One direction's times, as medians over calls with half the distance of the quartiles.

    `megabytes` is what any program must move at least; `copy_fraction` the bandwidth reached, as
    a share of a plain copy's in the same run; `times_reference` the time as a multiple of that
    of the reference. `refused` says why a time cannot be right, empty where it can.
    """

    direction: Identifier
    calls: Annotated[int, Field(ge=1)]
    ms: Annotated[float, Field(ge=0)]
    spread_ms: Annotated[float, Field(ge=0)]
    reference_ms: Annotated[float, Field(ge=0)]
    copy_ms: Annotated[float, Field(ge=0)]
    megabytes: Annotated[float, Field(ge=0)]
    copy_fraction: Annotated[float, Field(ge=0)]
    copy_fraction_spread: Annotated[float, Field(ge=0)]
    times_reference: Annotated[float, Field(ge=0)]
    times_reference_spread: Annotated[float, Field(ge=0)]
    refused: Short = ""


class Speed(Message):
    """How fast an accepted submission is. It gates nothing.

    `reference` says in words what is timed beside it.
    """

    shape: Annotated[list[int], Field(max_length=8)]
    dtype: Short
    reference: Short = PLAIN_NUMPY
    rows: Annotated[list[SpeedRow], Field(max_length=8)]


class Finding(Message):
    """Something about a kernel, found while it was built or run beside the program.

    `line` is in the learner's file, `kernel_line` in the kernel's own source; None where unknown.
    `case` says in which case it came up. Information only: no verdict rests on it.
    """

    kind: Identifier
    severity: Literal["error", "warning", "note"]
    kernel: Short
    line: Annotated[int, Field(ge=1)] | None
    kernel_line: Annotated[int, Field(ge=1)] | None
    message: Text
    case: Text = ""


class PastedFinding(Message):
    """Something that stands in a source because it was pasted: what, where, and what to do.

    `line` and `column`, from 1 and in characters, are of the first of `count` places. An error
    keeps Python from taking the file; a warning does not.
    """

    kind: Identifier
    severity: Literal["error", "warning"]
    line: Annotated[int, Field(ge=1)]
    column: Annotated[int, Field(ge=1)]
    count: Annotated[int, Field(ge=1)]
    message: Text


class KernelCounts(Message):
    """What one kernel did in a call, of the size of its largest launch. None where it is not known.

    `coalescing` is the share of the 32-byte sectors moved that was wanted; `occupancy` that of an
    SM's warps that can run at once, with `occupancy_limit` saying what bounds it; `spilled_bytes`
    is what a thread keeps in local memory, for want of registers; `bytes_at_once`
    is what a load or store of a thread moves on average, of the array where that is least.
    """

    name: Short
    launches: Annotated[int, Field(ge=1)]
    grid: Annotated[list[int], Field(max_length=3)]
    block: Annotated[list[int], Field(max_length=3)]
    shared_bytes: Annotated[int, Field(ge=0)]
    barriers_per_row: Annotated[float, Field(ge=0)]
    coalescing: Annotated[float, Field(ge=0, le=1)] | None
    bank_conflicts: Annotated[int, Field(ge=0)]
    registers: Annotated[int, Field(ge=0)] | None
    spilled_bytes: Annotated[int, Field(ge=0)] | None
    occupancy: Annotated[float, Field(ge=0, le=1)] | None
    occupancy_limit: Short = ""
    bytes_at_once: Annotated[float, Field(ge=0, le=16)] | None = None


class CountedCall(Message):
    """What one call moves through global memory, in bytes, and its kernels."""

    direction: Identifier
    bytes_read: Annotated[int, Field(ge=0)]
    bytes_written: Annotated[int, Field(ge=0)]
    bytes_least: Annotated[int, Field(ge=0)]
    launches: Annotated[int, Field(ge=0)]
    kernels: Annotated[list[KernelCounts], Field(max_length=8)]


class Counted(Message):
    """What an accepted program of the CuPy track moves and does, counted where nothing is timed.

    The counts are the runner's word: they are taken beside the learner's code. `advice` follows
    from them.
    """

    shape: Annotated[list[int], Field(max_length=8)]
    dtype: Short
    rows: Annotated[list[CountedCall], Field(max_length=8)]
    advice: Annotated[list[Text], Field(max_length=8)] = []


class Receipt(Message):
    """What exactly was graded, with what, where: enough to repeat it."""

    source_sha256: Short
    reference_sha256: Short
    cases_sha256: Short
    seed: Short
    python: Short
    numpy: Short
    platform: Short
    node: Short
    isolation: Short
    limits: dict[str, float]


class Report(Message):
    groups: Annotated[list[GroupResult], Field(max_length=64)] = []
    worst: WorstCase | None = None
    public: Annotated[list[PublicResult], Field(max_length=64)] = []
    failure: Failure | None = None
    mistakes: Annotated[list[Mistake], Field(max_length=8)] = []
    naming: bool = False
    """Whether a mistake's name is still looked for. All else is final, outcome and score too."""
    output: Annotated[str, Field(max_length=MAX_OUTPUT_CHARACTERS)] = ""
    output_dropped_bytes: Annotated[int, Field(ge=0)] = 0
    timings: Annotated[list[Timing], Field(max_length=32)] = []
    notes: Annotated[list[Text], Field(max_length=16)] = []
    speed: Speed | None = None
    execution: Short = ""
    """How it was run where that is not plain: "functional" for kernels on a processor."""
    findings: Annotated[list[Finding], Field(max_length=32)] = []
    pasted: Annotated[list[PastedFinding], Field(max_length=16)] = []
    counted: Counted | None = None
    receipt: Receipt | None = None


class Verdict(Message):
    """The end of one grading attempt.

    Where the report is `naming` a second verdict follows, which has the same outcome and score and
    the names that were found. Should it not come, the first one holds.
    """

    version: Literal[1] = PROTOCOL_VERSION
    submission: Identifier
    lease: Identifier
    kind: NodeKind = NodeKind.FUNCTIONAL
    node: Short
    outcome: Outcome
    score: Annotated[float, Field(ge=0, le=1)]
    report: Report


class Redelivery(Message):
    """A job came a second time: the worker that had it died, before or after it was done."""

    version: Literal[1] = PROTOCOL_VERSION
    submission: Identifier
    lease: Identifier
    kind: NodeKind = NodeKind.FUNCTIONAL
    node: Short


class Returned(Message):
    """A job given back by the node that took it, which cannot go on; the program is not to blame.

    The site puts it on the queue again. It costs none of the tries, but cannot happen for ever.
    """

    version: Literal[1] = PROTOCOL_VERSION
    submission: Identifier
    lease: Identifier
    kind: NodeKind = NodeKind.DEVICE
    node: Short
    reason: Annotated[str, Field(min_length=1, max_length=4_000)]


class GpuReport(Message):
    """One NVIDIA device of a node. What is not known, or not yet, is empty or None.

    `state` is "quarantined" while the device fails its probe, for the reason given; it is tried
    again after `retry_in_seconds`. `driver` is the kernel module's version, `cuda` that of the
    runtime, `cuda_of_driver` the newest that the driver can serve.
    """

    uuid: Short
    name: Short
    state: Literal["unknown", "ready", "busy", "quarantined"]
    reason: Text = ""
    failures: Annotated[int, Field(ge=0)] = 0
    retry_in_seconds: Annotated[float, Field(ge=0)] = 0.0
    compute_capability: Short = ""
    driver: Short = ""
    cuda: Short = ""
    cuda_of_driver: Short = ""
    cupy: Short = ""
    memory_megabytes: Annotated[int, Field(ge=0)] | None = None
    free_megabytes: Annotated[int, Field(ge=0)] | None = None
    copy_gigabytes_per_second: Annotated[float, Field(ge=0)] | None = None
    temperature_celsius: int | None = None
    sm_clock_megahertz: Annotated[int, Field(ge=0)] | None = None
    memory_clock_megahertz: Annotated[int, Field(ge=0)] | None = None


class NodeReport(Message):
    """What a worker says of itself at its start and regularly after.

    `isolation` begins with the level; `limits` are those of every run, whatever the exercise.
    """

    version: Literal[1] = PROTOCOL_VERSION
    node: Short
    queue: Short
    isolation: Short
    python: Short
    numpy: Short
    platform: Short
    limits: Annotated[dict[str, float], Field(max_length=64)] = {}
    devices: Annotated[list[Short], Field(max_length=64)] = []
    gpus: Annotated[list[GpuReport], Field(max_length=64)] = []
    tracks: Annotated[list[Track], Field(max_length=8)]
