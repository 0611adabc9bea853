"""Whether a worker takes jobs of the queue `gpu`: only while a device of its machine is usable."""

from __future__ import annotations

import logging
from typing import Any

from gpu_worker.queues import QUEUE_GPU

logger = logging.getLogger(__name__)


class Intake:
    """Opens and closes a worker's consumer. Called from the watch's thread.

    A worker begins open, as Celery starts it.
    """

    def __init__(self, consumer: Any, queue: str = QUEUE_GPU, *, isolated: bool = True) -> None:
        """`isolated` False: this machine has no walls for a device, so none is ever usable."""
        self._consumer = consumer
        self._isolated = isolated
        self._queue = queue
        self._open = True

    def follow(self, usable: bool) -> None:
        """Take jobs from now on, or take none; does nothing where that is so already."""
        usable = usable and self._isolated
        if usable == self._open:
            return
        self._open = usable
        if usable:
            logger.warning("A GPU is usable: jobs are taken again.")
            change = self._consumer.add_task_queue
        else:
            logger.error("No GPU is usable: jobs stay in the queue for other workers.")
            change = self._consumer.cancel_task_queue
        # In the consumer's own thread: its connection belongs to that one.
        self._consumer.call_soon(change, self._queue)
