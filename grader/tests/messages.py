"""Messages as workers send them."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings

from gpu_worker.messages import queues
from gpu_worker.messages.signing import WorkerKey
from grader import tasks
from grader.models import GradingAttempt, Submission

RECEIVERS = {
    queues.TASK_RECORD_PROGRESS: tasks.record_progress,
    queues.TASK_RECORD_VERDICT: tasks.record_verdict,
    queues.TASK_RECORD_REDELIVERY: tasks.record_redelivery,
    queues.TASK_RECORD_RETURN: tasks.record_return,
    queues.TASK_RECORD_NODE: tasks.record_node,
    queues.TASK_RECORD_RUN: tasks.record_run,
    queues.TASK_RECORD_CHECK: tasks.record_check,
}


def in_envelope(message: object, task: str, key: WorkerKey | None = None) -> dict[str, Any]:
    """Return any message signed, also one that no worker would send; without a key by `worker`."""
    key = key or WorkerKey.parse(settings.LOCAL_WORKER_KEY)
    body = json.dumps(message)
    return {"worker": key.name, "body": body, "mac": key.mac(task, body)}


class SigningWorker:
    """The site's tasks as a worker reaches them: each message goes there in a signed envelope."""

    def __init__(self, key: WorkerKey | None = None) -> None:
        self._key = key

    def _send(self, task: str, message: object) -> None:
        RECEIVERS[task](in_envelope(message, task, self._key))

    def record_progress(self, message: object) -> None:
        self._send(queues.TASK_RECORD_PROGRESS, message)

    def record_verdict(self, message: object) -> None:
        self._send(queues.TASK_RECORD_VERDICT, message)

    def record_redelivery(self, message: object) -> None:
        self._send(queues.TASK_RECORD_REDELIVERY, message)

    def record_return(self, message: object) -> None:
        self._send(queues.TASK_RECORD_RETURN, message)

    def record_node(self, message: object) -> None:
        self._send(queues.TASK_RECORD_NODE, message)

    def record_run(self, message: object) -> None:
        self._send(queues.TASK_RECORD_RUN, message)

    def record_check(self, message: object) -> None:
        self._send(queues.TASK_RECORD_CHECK, message)


worker = SigningWorker()
"""The worker that the site started by itself."""


def attempt_of(submission: Submission, kind: str = "") -> GradingAttempt:
    """The last attempt, of all or of a kind of node."""
    attempts = submission.attempts.filter(**({"kind": kind} if kind else {}))
    attempt = attempts.order_by("number").last()
    assert attempt is not None
    return attempt


def from_a_gpu_node(message: dict[str, Any], submission: Submission) -> dict[str, Any]:
    """Return a message as a GPU node would send it; no device is anywhere near."""
    lease = attempt_of(submission, "device").lease
    return {**message, "lease": lease, "kind": "device", "node": "gpu-node"}


def from_a_cpu_node(message: dict[str, Any], submission: Submission) -> dict[str, Any]:
    lease = attempt_of(submission, "functional").lease
    return {**message, "lease": lease, "kind": "functional", "node": "cpu-node"}


def returned(submission: Submission, reason: str = "Its GPU is gone.") -> dict[str, Any]:
    """What a GPU node says that cannot go on with the job it took."""
    message = {"version": 1, "submission": submission.public_id, "reason": reason}
    return from_a_gpu_node(message, submission)


def progress(submission: Submission, phase: str = "running", **fields: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "submission": submission.public_id,
        "lease": attempt_of(submission).lease,
        "node": "node-1",
        "phase": phase,
        "case": 0,
        "cases": 0,
        **fields,
    }


def group(passed: bool | None = True, **fields: Any) -> dict[str, Any]:
    return {
        "id": "basics",
        "title": "Basics",
        "weight": 1.0,
        "passed": passed,
        "cases": 3,
        "cases_passed": 3 if passed else 1,
        **fields,
    }


def report(**fields: Any) -> dict[str, Any]:
    return {"groups": [group()], **fields}


def verdict(submission: Submission, outcome: str = "accepted", **fields: Any) -> dict[str, Any]:
    accepted = outcome == "accepted"
    return {
        "version": 1,
        "submission": submission.public_id,
        "lease": attempt_of(submission).lease,
        "node": "node-1",
        "outcome": outcome,
        "score": 1.0 if accepted else 0.25,
        "report": full_report(accepted),
        **fields,
    }


def full_report(accepted: bool) -> dict[str, Any]:
    return {
        "groups": [group(accepted)],
        "worst": {
            "group": "basics",
            "family": "unit normal",
            "shape": [3, 7],
            "dtype": "float32",
            "layout": "contiguous",
            "eps": 1e-6,
            "quantity": "y",
            "index": [0, 2],
            "expected": "0.5",
            "got": "0.5" if accepted else "nan",
            "units": 0.5 if accepted else None,
            "limit": 32.0,
            "failed": not accepted,
            "histogram": [20, 1],
        },
        "failure": None,
        "mistakes": []
        if accepted
        else [
            {
                "id": "eps-outside",
                "explanation": "eps is added outside the root.",
                "formula": "rmsnorm",
                "step": "definition",
                "line": "rstd",
            }
        ],
        "output": "hello <b>world</b>\n",
        "output_dropped_bytes": 0,
        "timings": [{"phase": "running", "ms": 12.5}],
        "notes": ["One note."],
        "receipt": {
            "source_sha256": "a" * 64,
            "reference_sha256": "b" * 64,
            "cases_sha256": "c" * 64,
            "seed": "1234",
            "python": "3.11.2",
            "numpy": "2.0.0",
            "platform": "Linux",
            "node": "node-1",
            "isolation": "A",
            "limits": {"wall_seconds": 10.0},
        },
    }


def redelivered(submission: Submission) -> dict[str, Any]:
    """What a worker says that is handed a job for the second time."""
    return {"version": 1, "submission": submission.public_id}


def grade_on_cpu(submission: Submission, outcome: str = "accepted", **fields: Any) -> None:
    worker.record_verdict(from_a_cpu_node(verdict(submission, outcome, **fields), submission))


def grade_on_gpu(submission: Submission, outcome: str = "accepted", **fields: Any) -> None:
    """Record what a GPU node would have sent."""
    worker.record_verdict(from_a_gpu_node(verdict(submission, outcome, **fields), submission))


def public_result(*values: float | None, **fields: Any) -> dict[str, Any]:
    """One result of a public case, in units of 0.001."""
    return {
        "case": "chapter-example",
        "quantity": "y",
        "dtype": "float32",
        "shape": [len(values)],
        "values": list(values),
        "units": [0.001] * len(values),
        "limit": 32.0,
        **fields,
    }


def gpu_node(*states: str, tracks: list[str] | None = None) -> dict[str, Any]:
    """The report of a GPU node with a GPU in each of the states."""
    gpus = [
        {"uuid": f"GPU-{number}", "name": "A GPU", "state": state}
        for number, state in enumerate(states)
    ]
    return cpu_node() | {
        "node": "gpu-node",
        "queue": "gpu",
        "gpus": gpus,
        "tracks": ["cupy"] if tracks is None else tracks,
    }


def cpu_node(name: str = "cpu-node") -> dict[str, Any]:
    return {
        "version": 1,
        "node": name,
        "queue": "cpu",
        "isolation": "A",
        "python": "3.11.2",
        "numpy": "2.0.0",
        "platform": "Linux",
        "tracks": ["numpy", "cupy"],
    }
