"""A real worker on a real queue: jobs, junk, and sudden death."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_worker.messages.protocol import GradeJob, NodeReport, Progress, Track, Verdict
from gpu_worker.messages.queues import TASK_RECORD_NODE, TASK_RECORD_PROGRESS, TASK_RECORD_VERDICT
from gpu_worker.sandbox import isolation
from gpu_worker.tests.worker_process import (
    descendants,
    is_alive,
    running_worker,
    wait_until,
)

pytestmark = pytest.mark.services


def job(source: str) -> dict[str, object]:
    return GradeJob(
        submission="s1",
        lease="l1",
        attempt=1,
        exercise="rmsnorm",
        track=Track.NUMPY,
        source=source,
    ).to_message()


def test_a_grading_goes_on_without_the_broker_and_logs_no_celery_warning(
    tmp_path: Path, right: str
) -> None:
    with running_worker(tmp_path, LEARNML_HEARTBEAT_SECONDS="0.2") as worker:
        worker.wait_for(TASK_RECORD_NODE)
        worker.send(job("import time\ntime.sleep(3)\n" + right))
        while Progress.from_message(worker.wait_for(TASK_RECORD_PROGRESS)).phase == "claimed":
            pass
        # The new server holds no message to redeliver, so the verdict is that of the first attempt.
        worker.restart_server()
        verdict = Verdict.from_message(worker.wait_for(TASK_RECORD_VERDICT))
        assert verdict.outcome == "accepted"
    log = (tmp_path / "worker.log").read_text()
    assert "In Celery 5.1" not in log
    assert "onnection to broker lost" in log


def test_a_worker_reports_itself_grades_survives_junk_and_leaves_nothing_when_killed(
    tmp_path: Path, right: str
) -> None:
    with running_worker(tmp_path, LEARNML_HEARTBEAT_SECONDS="0.2") as worker:
        node = NodeReport.from_message(worker.wait_for(TASK_RECORD_NODE))
        assert node.isolation == isolation.establish().text
        assert node.limits["processes"] == 1
        assert node.tracks == [Track.NUMPY, Track.CUPY]
        worker.send("junk")
        worker.send()
        worker.send(job(right))
        verdict = Verdict.from_message(worker.wait_for(TASK_RECORD_VERDICT))
        assert verdict.outcome == "accepted"
        assert verdict.node == node.node
        worker.send(job("while True: pass\n"))
        for _ in range(4):
            worker.wait_for(TASK_RECORD_PROGRESS)
        # The pool's process, two of bubblewrap, the zygote, the supervisor and the runner.
        main = worker.worker.pid
        wait_until(lambda: len(descendants(main)) == 6, found=lambda: descendants(main))
        below = descendants(main)
        worker.worker.kill()
        worker.worker.wait()
        wait_until(lambda: not any(is_alive(pid) for pid in below))
    log = (tmp_path / "worker.log").read_text()
    assert f"Isolation of submissions: {isolation.establish().text}" in log
