"""Whether a worker takes jobs of the queue `gpu`: only while a device of its machine is usable."""

from __future__ import annotations

import logging
from typing import Any

from gpu_worker.queues import QUEUE_GPU

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
        self._open = True

    def follow(self, usable: bool) -> None:
        """Take jobs from now on, or take none; does nothing where that is so already."""
        usable = usable and self._isolated
        if usable == self._wanted:
            return
        self._wanted = usable
        if usable:
            logger.warning("A GPU has passed its probe: jobs are taken.")
        else:
            logger.warning("No GPU has passed its probe: jobs stay in the queue for others.")
        # In the consumer's own thread: its connection belongs to that one.
        self._consumer.call_soon(self._settle)

    def _settle(self) -> None:
        """Do what is wanted by now: Celery runs what it was asked for soon in any order."""
        if self._open == self._wanted:
            return
        self._open = self._wanted
        change = self._consumer.add_task_queue if self._open else self._consumer.cancel_task_queue
        change(self._queue)
