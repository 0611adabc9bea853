"""All that changes the grader's state: one function per change, each with its transaction."""

from .decide import decide_flagged
from .dispatch import send_outbox
from .errors import Refused
from .lost import Swept, requeue_lost
from .record import (
    Recorded,
    record_node,
    record_progress,
    record_redelivery,
    record_verdict,
    reject_verdict,
)
from .regrade import commit_regrade, start_regrade, undo_regrade
from .submit import resubmit, submit
from .tokens import create_token, revoke_token

__all__ = [
    "Recorded",
    "Refused",
    "Swept",
    "commit_regrade",
    "create_token",
    "decide_flagged",
    "record_node",
    "record_progress",
    "record_redelivery",
    "record_verdict",
    "reject_verdict",
    "requeue_lost",
    "resubmit",
    "revoke_token",
    "send_outbox",
    "start_regrade",
    "submit",
    "undo_regrade",
]
