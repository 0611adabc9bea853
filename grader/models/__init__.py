"""The grader's tables: constraints, no workflow. Changes of state are in `grader.services`."""

from .attempt import GradingAttempt
from .audit import AuditAction, AuditEntry
from .exercise import Exercise
from .node import WorkerNode
from .outbox import OutboxMessage
from .regrade import RegradeItem, RegradeItemState, RegradeRun, RegradeScope, RegradeState
from .states import AttemptState, Outcome, Phase, Queue, SubmissionState, Track
from .submission import Submission
from .token import ApiToken, Scope

__all__ = [
    "ApiToken",
    "AttemptState",
    "AuditAction",
    "AuditEntry",
    "Exercise",
    "GradingAttempt",
    "Outcome",
    "OutboxMessage",
    "Phase",
    "Queue",
    "RegradeItem",
    "RegradeItemState",
    "RegradeRun",
    "RegradeScope",
    "RegradeState",
    "Scope",
    "Submission",
    "SubmissionState",
    "Track",
    "WorkerNode",
]
