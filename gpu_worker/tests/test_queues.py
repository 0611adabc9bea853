"""The settings that site and workers share, and what depends on the queue a worker serves."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from gpu_worker.messages import queues

LIMIT_OF_A_WORKER = """
import sys
from gpu_worker.celery_app import app
print(app.Worker(queues=sys.argv[1].split(","), pool="solo").time_limit)
"""


def limit_of_a_worker(started_for: str, **environment: str) -> float:
    """Return after how long a worker that is started for these queues kills its task."""
    clean = {k: v for k, v in os.environ.items() if k != "LEARNML_TASK_TIME_LIMIT_SECONDS"}
    ended = subprocess.run(
        [sys.executable, "-c", LIMIT_OF_A_WORKER, started_for],
        env={**clean, "REDIS_URL": "redis://127.0.0.1:1/0", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(ended.stdout)


@pytest.mark.parametrize(("queue", "seconds"), [("cpu", 60), ("gpu", 110)])
def test_a_worker_has_the_time_limit_of_its_queue(queue: str, seconds: float) -> None:
    assert limit_of_a_worker(queue) == seconds < queues.visibility_timeout_seconds()


def test_an_operator_decides_for_every_queue() -> None:
    assert limit_of_a_worker("gpu", LEARNML_TASK_TIME_LIMIT_SECONDS="90") == 90
