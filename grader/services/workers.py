"""Register workers, and verify which messages are theirs.

A worker's key is derived from the site's secret key and the salt in its row: a copy of the database
alone can forge no verdict. After changing the secret key, workers must be registered again.

The worker that `./run` starts has a key in the data folder, made by the supervisor; its row is
created with its first message, and its salt is unused.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.crypto import salted_hmac

from gpu_worker.messages.protocol import ProtocolError
from gpu_worker.messages.signing import SignedMessage, WorkerKey
from grader.messages import clean
from grader.models import GradingAttempt, RefusalReason, RefusedMessage, Worker
from grader.models.ids import new_salt

from .errors import Refused

logger = logging.getLogger(__name__)

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_KEY_CONTEXT = "grader.services.workers"


class NotBelieved(Exception):
    """A message without a valid signature of an entitled worker. It was counted and logged."""


@dataclass(frozen=True, slots=True)
class Told:
    """A worker's message, in plain JSON values, and its sender."""

    worker: Worker
    message: Any


def register_worker(name: str) -> WorkerKey:
    """Make a key for a new worker. It is shown once; only the site can derive it again.

    Raises:
        Refused: the name is taken, or invalid.
    """
    if not _NAME.fullmatch(name):
        raise Refused(
            f"“{name}” cannot be a worker's name: use up to 64 letters, digits, - and _, such as "
            "gpu-1."
        )
    if name == _local_name():
        raise _is_local(name)
    worker, is_new = Worker.objects.get_or_create(name=name)
    if not is_new:
        raise Refused(
            f"There is a worker {name} already. Choose another name; or, if its key was lost, give "
            f"it another with `manage.py worker renew {name}`."
        )
    return _key_of(worker)


def renew_worker(name: str) -> WorkerKey:
    """Give a worker another key; signatures with the old one are refused from now on.

    Raises:
        Refused: there is no such worker, or its key is not given here.
    """
    if name == _local_name():
        raise _is_local(name)
    if not Worker.objects.filter(name=name).update(salt=new_salt(), revoked_at=None):
        raise _unknown(name)
    return _key_of(Worker.objects.get(name=name))


def revoke_worker(name: str) -> None:
    """Stop trusting a worker. Its jobs go to another one when their leases run out.

    Raises:
        Refused: there is no such worker.
    """
    if not Worker.objects.filter(name=name).exists():
        raise _unknown(name)
    Worker.objects.filter(name=name, revoked_at=None).update(revoked_at=timezone.now())


def _is_local(name: str) -> Refused:
    return Refused(
        f"{name} is the worker that ./run starts; its key is in the data folder. Choose another "
        "name for another worker."
    )


def _unknown(name: str) -> Refused:
    return Refused(f"There is no worker {name}; `manage.py worker list` shows those there are.")


def opened(task: str, envelope: object) -> Told:
    """Return the contents of a task's envelope.

    Raises:
        NotBelieved: it is not signed by a trusted worker.
        ProtocolError: it is, but does not contain JSON.
    """
    try:
        signed = SignedMessage.from_message(clean(envelope))
    except ProtocolError:
        raise _not_believed(task, RefusalReason.NOT_SIGNED) from None
    worker = _worker_named(signed.worker)
    if worker is None:
        raise _not_believed(task, RefusalReason.UNKNOWN_WORKER)
    if not signed.is_signed_with(_key_of(worker), task):
        raise _not_believed(task, RefusalReason.WRONG_SIGNATURE, worker)
    if worker.revoked_at is not None:
        raise _not_believed(task, RefusalReason.REVOKED_WORKER, worker)
    return Told(worker, signed.message())


def claim_lease(task: str, told: Told, lease: str) -> None:
    """Record which worker has the attempt under a lease: the first one that reports on it.

    Raises:
        NotBelieved: another worker has it.
    """
    with transaction.atomic():
        mine = GradingAttempt.objects.select_for_update().filter(lease=lease)
        for attempt in mine.only("worker"):
            if attempt.worker_id is None:
                mine.update(worker=told.worker)
            elif attempt.worker_id != told.worker.pk:
                break
        else:
            return
    raise not_its(task, told, RefusalReason.NOT_ITS_JOB)


def not_its(task: str, told: Told, reason: RefusalReason) -> NotBelieved:
    """Count a message about another worker's job; return the exception to raise."""
    return _not_believed(task, reason, told.worker)


def _worker_named(name: str) -> Worker | None:
    if name == _local_name():
        return Worker.objects.get_or_create(name=name)[0]
    return Worker.objects.filter(name=name).first()


def _key_of(worker: Worker) -> WorkerKey:
    if worker.name == _local_name():
        return WorkerKey.parse(settings.LOCAL_WORKER_KEY)
    mac = salted_hmac(_KEY_CONTEXT, f"{worker.name}:{worker.salt}", algorithm="sha256")
    return WorkerKey(worker.name, mac.digest())


def _local_name() -> str:
    """Return the name of the worker with the key in the data folder, empty where there is none."""
    return WorkerKey.parse(settings.LOCAL_WORKER_KEY).name if settings.LOCAL_WORKER_KEY else ""


def _not_believed(task: str, reason: RefusalReason, worker: Worker | None = None) -> NotBelieved:
    name = worker.name if worker else ""
    now = timezone.now()
    RefusedMessage.objects.get_or_create(worker_name=name, reason=reason, defaults={"last_at": now})
    RefusedMessage.objects.filter(worker_name=name, reason=reason).update(
        count=F("count") + 1, last_at=now, last_task=task[:100]
    )
    logger.error("A message for %s %s; it changes nothing.", task, reason.label)
    return NotBelieved(reason.label)
