"""Messages are parsed strictly at the border."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_worker.messages.protocol import GradeJob, Outcome, ProtocolError, Verdict

JOB: dict[str, Any] = {
    "version": 1,
    "submission": "abc123",
    "lease": "l-1",
    "attempt": 1,
    "exercise": "rmsnorm",
    "track": "numpy",
    "source": "x = 1\n",
    "cases": "all",
}


def test_a_job_survives_the_round_trip() -> None:
    job = GradeJob.from_message(JOB)
    assert GradeJob.from_message(job.to_message()) == job
    assert job.to_message() == {**JOB, "kind": "functional"}


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"attempt": "1"},
        {"attempt": 0},
        {"attempt": 1.5},
        {"track": "fortran"},
        {"submission": ""},
        {"submission": "a b"},
        {"lease": None},
        {"source": "x" * (64 * 1024 + 1)},
        {"source": "bad \udcff byte"},
        {"source": b"bytes"},
        {"cases": "some"},
        {"kind": "other"},
        {"extra": 1},
    ],
    ids=str,
)
def test_a_job_that_is_not_exactly_right_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError):
        GradeJob.from_message({**JOB, **change})


@pytest.mark.parametrize("message", [None, 1, "junk", [], {}, [JOB]], ids=str)
def test_invalid_messages_are_refused(message: object) -> None:
    with pytest.raises(ProtocolError):
        GradeJob.from_message(message)


@pytest.mark.parametrize("field", sorted(JOB.keys() - {"version", "cases"}))
def test_no_field_may_be_missing(field: str) -> None:
    with pytest.raises(ProtocolError, match=field):
        GradeJob.from_message({name: value for name, value in JOB.items() if name != field})


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan"), float("inf"), "1"])
def test_a_verdict_with_an_impossible_score_is_refused(score: object) -> None:
    message = {
        "version": 1,
        "submission": "a",
        "lease": "b",
        "node": "n",
        "outcome": "accepted",
        "score": score,
        "report": {},
    }
    with pytest.raises(ProtocolError):
        Verdict.from_message(message)
    assert Verdict.from_message({**message, "score": 1}).outcome is Outcome.ACCEPTED
