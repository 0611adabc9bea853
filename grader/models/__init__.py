"""The grader's tables: constraints, no workflow. Changes of state are in `grader.services`."""

from .attempt import GradingAttempt
from .audit import ABOUT_ACCOUNTS, AuditAction, AuditEntry, Origin
from .check import CheckState, ExerciseCheck
from .code_run import CodeRun
from .draft import Draft
from .exercise import Exercise
from .extension import Extension
from .graded import Graded
from .node import WorkerNode
from .outbox import OutboxMessage
from .override import ScoreOverride
from .regrade import RegradeItem, RegradeItemState, RegradeRun, RegradeScope, RegradeState
from .second_verdict import SecondVerdict
from .states import (
    AttemptState,
    NodeKind,
    Outcome,
    Phase,
    Queue,
    RunKind,
    RunOutcome,
    RunState,
    SubmissionState,
    Track,
)
from .submission import Submission
from .token import ApiToken, Scope
from .worker import RefusalReason, RefusedMessage, Worker

__all__ = [
    "ABOUT_ACCOUNTS",
    "ApiToken",
    "AttemptState",
    "AuditAction",
    "AuditEntry",
    "CheckState",
    "CodeRun",
    "Draft",
    "Exercise",
    "ExerciseCheck",
    "Extension",
    "Graded",
    "GradingAttempt",
    "NodeKind",
    "Origin",
    "Outcome",
    "OutboxMessage",
    "Phase",
    "Queue",
    "RefusalReason",
    "RefusedMessage",
    "RegradeItem",
    "RegradeItemState",
    "RegradeRun",
    "RegradeScope",
    "RegradeState",
    "RunKind",
    "RunOutcome",
    "RunState",
    "Scope",
    "ScoreOverride",
    "SecondVerdict",
    "Submission",
    "SubmissionState",
    "Track",
    "Worker",
    "WorkerNode",
]
