"""Workers' reports on devices and limits are stored and shown to operators."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from gpu_worker.messages.protocol import GpuReport, NodeReport
from grader import waiting
from grader.models import WorkerNode
from grader.tests.calls import ROOT, Api
from grader.tests.messages import worker

SICK = GpuReport(
    uuid="GPU-2",
    name="NVIDIA <H200>",
    state="quarantined",
    reason="The probe did not answer in 60 s.",
    failures=3,
    retry_in_seconds=120.0,
)
WELL = GpuReport(
    uuid="GPU-1",
    name="NVIDIA H200",
    state="ready",
    compute_capability="9.0",
    driver="580.65.06",
    cuda="13.0",
    cuda_of_driver="13.0",
    cupy="14.2.0",
    memory_megabytes=143_771,
    free_megabytes=143_000,
    copy_gigabytes_per_second=1.5,
    temperature_celsius=41,
    sm_clock_megahertz=1_980,
)


def report(*gpus: GpuReport, **changes: Any) -> dict[str, Any]:
    message = NodeReport(
        node="gpu-1", queue="gpu", isolation="A", python="3", numpy="2", platform="Linux",
        gpus=list(gpus), tracks=[],
    ).to_message()  # fmt: skip
    return {**message, **changes}


@pytest.fixture
def node(db: None) -> WorkerNode:
    worker.record_node(report(WELL, SICK))
    return WorkerNode.objects.get()


def test_the_last_report_of_the_devices_is_kept(node: WorkerNode) -> None:
    assert [gpu["state"] for gpu in node.gpus] == ["ready", "quarantined"]
    worker.record_node(report(WELL))
    node.refresh_from_db()
    assert [GpuReport.from_message(gpu) for gpu in node.gpus] == [WELL]


def test_a_report_from_before_there_were_devices_is_still_taken(db: None) -> None:
    message = report()
    del message["gpus"]
    worker.record_node(message)
    assert WorkerNode.objects.get().gpus == []


@pytest.mark.parametrize("change", [{"state": "on fire"}, {"memory_megabytes": -1}, {"x": 1}])
def test_a_report_that_follows_no_protocol_is_not_kept(db: None, change: dict[str, Any]) -> None:
    worker.record_node(report(gpus=[{**WELL.to_message(), **change}]))
    assert not WorkerNode.objects.exists()


def test_devices_alone_offer_no_track(node: WorkerNode) -> None:
    assert waiting.tracks_available() == set()


def test_the_api_shows_graders_the_devices(node: WorkerNode, api: Api, grader: User) -> None:
    (found,) = api(grader, "grade").get(f"{ROOT}/workers/").json()["nodes"]
    well, sick = found["gpus"]
    assert well == WELL.to_message()
    assert (sick["reason"], sick["copy_gigabytes_per_second"]) == (SICK.reason, None)


def test_the_admin_shows_states_facts_and_reasons_and_escapes_them(
    node: WorkerNode, client: Client, grader: User
) -> None:
    client.force_login(grader)
    listed = client.get(reverse("admin:grader_workernode_changelist")).content.decode()
    assert "NVIDIA H200: ready; NVIDIA &lt;H200&gt;: quarantined" in listed
    assert "[&#x27;" not in listed, "lists are shown in words"
    page = client.get(reverse("admin:grader_workernode_change", args=[node.pk])).content.decode()
    assert "<th scope='row'>Temperature</th><td>41 °C</td>" in page
    assert "<th scope='row'>Memory clock</th><td>not known</td>" in page
    assert "In quarantine after 3 failed probes: The probe did not answer in 60 s." in page
    assert "tried again 120 s after" in page
    assert "NVIDIA <H200>" not in page


def test_the_admin_says_that_a_worker_has_no_device(db: None, client: Client, grader: User) -> None:
    worker.record_node(report())
    client.force_login(grader)
    url = reverse("admin:grader_workernode_change", args=[WorkerNode.objects.get().pk])
    assert "reports no NVIDIA device" in client.get(url).content.decode()


def test_the_limits_of_runs_are_kept_and_shown(api: Api, client: Client, grader: User) -> None:
    limits = {"processes": 1.0, "open_files": 64.0, "stack_megabytes": 64.0}
    worker.record_node(report(limits=limits))
    (found,) = api(grader, "grade").get(f"{ROOT}/workers/").json()["nodes"]
    assert found["limits"] == limits
    client.force_login(grader)
    url = reverse("admin:grader_workernode_change", args=[WorkerNode.objects.get().pk])
    assert "processes: 1; open files: 64; stack: 64 MB" in client.get(url).content.decode()
    worker.record_node(report())
    assert "not reported" in client.get(url).content.decode(), "the last report counts"
