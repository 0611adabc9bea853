"""Every change of the grader's state: one function each, made in one transaction."""

from .decide import decide_flagged
from .dispatch import send_outbox
from .drafts import keep_draft
from .errors import Refused
from .extend import give_extension, remove_extension
from .override import override_score, remove_override
from .publishing import advance_checks, record_check
from .reaper import Swept, requeue_lost
from .record import (
    Recorded,
    record_node,
    record_progress,
    record_redelivery,
    record_return,
    record_verdict,
    reject_verdict,
)
from .regrade import commit_regrade, start_regrade, undo_regrade
from .runs import end_late_runs, purge_runs, record_run, start_run
from .second import ask_second_again
from .submit import resubmit, submit
from .tokens import active_tokens, create_token, keep_tokens, revoke_token
from .workers import register_worker, renew_worker, revoke_worker

__all__ = [
    "Recorded",
    "Refused",
    "Swept",
    "active_tokens",
    "advance_checks",
    "ask_second_again",
    "commit_regrade",
    "create_token",
    "decide_flagged",
    "end_late_runs",
    "give_extension",
    "keep_draft",
    "keep_tokens",
    "purge_runs",
    "override_score",
    "record_check",
    "record_node",
    "record_progress",
    "record_redelivery",
    "record_return",
    "record_run",
    "record_verdict",
    "reject_verdict",
    "register_worker",
    "remove_extension",
    "remove_override",
    "renew_worker",
    "requeue_lost",
    "resubmit",
    "revoke_token",
    "revoke_worker",
    "send_outbox",
    "start_regrade",
    "start_run",
    "submit",
    "undo_regrade",
]
