"""The grader's tables: constraints, no workflow. Changes of state are in `grader.services`."""

from .attempt import GradingAttempt, OutboxMessage
from .audit import ABOUT_ACCOUNTS, AuditAction, AuditEntry, Origin
from .check import CheckState, ExerciseCheck
from .code_run import CodeRun
from .draft import Draft
from .exercise import Exercise
from .extension import Extension
from .graded import Graded
from .regrade import RegradeItem, RegradeItemState, RegradeRun, RegradeScope, RegradeState
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
from .submission import ScoreOverride, SecondVerdict, Submission
from .token import ApiToken, Scope
from .worker import RefusalReason, RefusedMessage, Worker, WorkerNode

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
