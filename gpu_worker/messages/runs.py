"""The messages of runs: a program, or the public cases, without an attempt. See `protocol`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from gpu_worker.messages.protocol import (
    MAX_OUTPUT_CHARACTERS,
    MAX_SOURCE_BYTES,
    PROTOCOL_VERSION,
    Failure,
    Identifier,
    Message,
    PastedFinding,
    Short,
    Timing,
    Track,
    WorstCase,
)


class RunKind(StrEnum):
    """What a run is for: a program's output, or an exercise's public cases."""

    CODE = "code"
    PUBLIC_CASES = "public_cases"


class RunOutcome(StrEnum):
    """How a run ended. `completed`: the program came to its end, or every public case passed."""

    COMPLETED = "completed"
    WRONG_ANSWER = "wrong_answer"
    CONTRACT_ERROR = "contract_error"
    RUNTIME_ERROR = "runtime_error"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    FLAGGED = "flagged"
    NOT_RUN = "not_run"


class RunJob(Message):
    """One run that a learner waits for. It is no grading: it counts nowhere.

    `exercise` is named where the public cases are run. After `expires_at` (Unix seconds) nobody
    waits any more, and the job is not run.
    """

    version: Literal[1] = PROTOCOL_VERSION
    run: Identifier
    lease: Identifier
    kind: RunKind
    exercise: Identifier | None = None
    track: Track = Track.NUMPY
    source: Annotated[str, Field(max_length=MAX_SOURCE_BYTES)]
    expires_at: Annotated[float, Field(ge=0)]


class RunCase(Message):
    """What became of one public case; `passed` is None where the run ended before it."""

    id: Short
    title: Short
    passed: bool | None
    failure: Failure | None = None
    worst: WorstCase | None = None


class RunReport(Message):
    """What a run showed. `limits` are those that it ran under."""

    failure: Failure | None = None
    cases: Annotated[list[RunCase], Field(max_length=32)] = []
    pasted: Annotated[list[PastedFinding], Field(max_length=16)] = []
    output: Annotated[str, Field(max_length=MAX_OUTPUT_CHARACTERS)] = ""
    output_dropped_bytes: Annotated[int, Field(ge=0)] = 0
    timings: Annotated[list[Timing], Field(max_length=8)] = []
    limits: dict[str, float] = {}


class RunUpdate(Message):
    """A worker took a run (`outcome` None), or ended it."""

    version: Literal[1] = PROTOCOL_VERSION
    run: Identifier
    lease: Identifier
    node: Short
    outcome: RunOutcome | None = None
    report: RunReport = RunReport()
