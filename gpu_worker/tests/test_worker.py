"""A real worker on a real queue: jobs, junk, and a sudden death."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gpu_worker.protocol import GradeJob, NodeReport, Track, Verdict
from gpu_worker.queues import TASK_RECORD_NODE, TASK_RECORD_PROGRESS, TASK_RECORD_VERDICT
from gpu_worker.sandbox import isolation
from gpu_worker.tests.worker_process import descendants, is_alive, running_worker

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


def test_a_worker_reports_itself_grades_survives_junk_and_leaves_nothing_when_killed(
    tmp_path: Path, right: str
) -> None:
    with running_worker(tmp_path, LEARNML_HEARTBEAT_SECONDS="0.2") as worker:
        node = NodeReport.from_message(worker.wait_for(TASK_RECORD_NODE, 40))
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
        below = descendants(worker.worker.pid)
        # The pool's process, two of bubblewrap, the zygote, the supervisor and the runner.
        assert len(below) == 6
        worker.worker.kill()
        worker.worker.wait()
        deadline = time.monotonic() + 15
        while any(is_alive(pid) for pid in below):
            assert time.monotonic() < deadline, "a killed worker left processes behind"
            time.sleep(0.1)
    log = (tmp_path / "worker.log").read_text()
    assert f"Isolation of submissions: {isolation.establish().text}" in log
