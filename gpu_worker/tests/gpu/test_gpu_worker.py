"""A real worker of the queue `gpu`, on a real queue, with a fake device."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_worker.gpu import quarantine
from gpu_worker.gpu.lock import FOLDER
from gpu_worker.messages.protocol import GradeJob, NodeKind, NodeReport, Track, Verdict
from gpu_worker.messages.queues import QUEUE_GPU, TASK_RECORD_NODE, TASK_RECORD_VERDICT
from gpu_worker.tests.cupy.conftest import submission
from gpu_worker.tests.gpu.machine import machine
from gpu_worker.tests.worker_process import running_worker, wait_until

pytestmark = pytest.mark.services

JOB = GradeJob(
    submission="s1",
    lease="l1",
    kind=NodeKind.DEVICE,
    attempt=1,
    exercise="rmsnorm",
    track=Track.CUPY,
    source=submission("array_expressions"),
    cases="public",
).to_message()


def test_a_worker_grades_on_its_device_and_takes_no_jobs_while_it_is_sick(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = machine(tmp_path / "machine")
    monkeypatch.setenv(FOLDER, str(tmp_path / "locks"))
    environment = {"STAND_IN_MACHINE": str(root), "LEARNML_NODE_REPORT_SECONDS": "0.2"}
    app = "gpu_worker.tests.gpu.worker_app"
    with running_worker(tmp_path, app, QUEUE_GPU, **environment) as worker:

        def report() -> NodeReport:
            return NodeReport.from_message(worker.wait_for(TASK_RECORD_NODE))

        worker.send(JOB)
        verdict = Verdict.from_message(worker.wait_for(TASK_RECORD_VERDICT))
        assert (verdict.kind, verdict.outcome) == ("device", "accepted"), verdict.report.failure
        assert verdict.report.execution.startswith("on a device: stand-in")
        wait_until(lambda: report().tracks == [Track.CUPY])
        # As a lane does when it meets a sick device.
        (root / "sick").touch()
        quarantine.put("GPU-00000000-aaaa", "Xid 79")
        wait_until(lambda: report().tracks == [])
        assert report().gpus[0].reason == "Xid 79"
        wait_until(lambda: "jobs stay" in (tmp_path / "worker.log").read_text().split("taken")[-1])
        # A job requested before the worker closed still arrives, and goes back as redelivered.
        wait_until(worker.asks_for_none)
        worker.send(JOB)
        report()
        assert worker.waiting() == 1
        (root / "sick").unlink()
        verdict = Verdict.from_message(worker.wait_for(TASK_RECORD_VERDICT))
        assert verdict.outcome == "accepted"
        assert worker.waiting() == 0
