"""Consumes the queue `gpu` only while a device of this machine is usable."""

from __future__ import annotations

import logging
from typing import Any, Final

from gpu_worker.messages.queues import QUEUE_GPU

NO_WALLS: Final = "The sandbox stands at level B here: runs on a device need level A or A-."

logger = logging.getLogger(__name__)


class Intake:
    """Opens and closes a worker's consumer. Called from the watch's thread.

    A worker begins open, as Celery starts it. A request that waits at the queue server when it
    closes may still bring a job; Celery puts that back, marked as delivered before.
    """

    def __init__(self, consumer: Any, queue: str = QUEUE_GPU, *, isolated: bool = True) -> None:
        """`isolated` False: this machine has no walls for a device, so none is ever usable."""
        self._consumer = consumer
        self._isolated = isolated
        self._queue = queue
        self._wanted = True
        self._why = ""
        self._open = True

    def follow(self, why: str) -> None:
        """Take jobs from now on, or take none; does nothing where that is so already.

        `why` says in whole sentences why no device can be used, empty where one can. It is logged
        when it changes.
        """
        why = why if self._isolated else NO_WALLS
        if why == self._why:
            return
        self._why = why
        if why:
            logger.warning("No GPU can be used: jobs stay in the queue for others. %s", why)
        else:
            logger.warning("A GPU has passed its probe: jobs are taken.")
        if self._wanted == (not why):
            return
        self._wanted = not why
        # Must run in the consumer's own thread, which owns the connection.
        self._consumer.call_soon(self._settle)

    def _settle(self) -> None:
        """Do what is wanted by now: Celery runs what it was asked for soon in any order."""
        if self._open == self._wanted:
            return
        self._open = self._wanted
        change = self._consumer.add_task_queue if self._open else self._consumer.cancel_task_queue
        change(self._queue)
