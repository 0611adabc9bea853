"""A node's devices: found without the driver, probed in a child, quarantined, reported."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpu_worker.gpu import examination, inventory
from gpu_worker.gpu.examination import Facts, UnusableError, examine
from gpu_worker.gpu.fleet import (
    EXAMINED_EVERY_SECONDS,
    FIRST_RETRY_SECONDS,
    GONE,
    LAST_RETRY_SECONDS,
    Fleet,
    Watch,
)
from gpu_worker.gpu.inventory import Gpu
from gpu_worker.gpu.lock import FOLDER, BusyError, device_lock
from gpu_worker.messages.protocol import NodeReport
from gpu_worker.messages.queues import QUEUE_CPU, QUEUE_GPU
from gpu_worker.tests.gpu.machine import machine
from gpu_worker.tests.worker_process import PATIENCE_SECONDS, descendants, is_alive
from gpu_worker.worker.node import node_report

DRIVER = Path(__file__).with_name("stand_in_driver")
ROOT = Path(__file__).resolve().parents[3]
GPU = Gpu("GPU-1", "NVIDIA H200", "0000:01:00.0", 0)
FACTS = Facts(
    name="NVIDIA H200",
    compute_capability="9.0",
    cuda="13.0",
    cuda_of_driver="13.1",
    cupy="14.2.0",
    memory_megabytes=143_000,
    free_megabytes=142_000,
    copy_gigabytes_per_second=1.0,
)


# --- finding them --------------------------------------------------------------------------------
def test_devices_are_found_by_what_the_kernel_module_shows(tmp_path: Path) -> None:
    root = machine(tmp_path, minors=(3, 0))
    first, second = inventory.find(root)
    assert (first.name, first.minor, first.bus) == ("NVIDIA H200", 3, "0000:01:00.0")
    assert first.uuid == "GPU-00000003-aaaa"
    assert first.nodes == ("/dev/nvidia3", "/dev/nvidiactl", "/dev/nvidia-uvm")
    assert second.minor == 0
    assert first.problem == second.problem == ""
    assert inventory.driver_version(root) == "580.65.06"


def test_a_machine_without_the_kernel_module_has_none(tmp_path: Path) -> None:
    assert inventory.find(tmp_path) == []
    assert inventory.driver_version(tmp_path) == ""


@pytest.mark.parametrize(
    ("node", "advice"), [("nvidia0", "container"), ("nvidia-uvm", "nvidia-modprobe")]
)
def test_a_missing_device_node_is_reported_with_what_to_do(
    tmp_path: Path, node: str, advice: str
) -> None:
    root = machine(tmp_path)
    (root / "dev" / node).unlink()
    (gpu,) = inventory.find(root)
    assert f"/dev/{node} is missing" in gpu.problem
    assert advice in gpu.problem
    with pytest.raises(UnusableError, match="is missing"):
        examine(gpu)


def test_a_device_node_that_this_user_may_not_open_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = machine(tmp_path, minors=(0, 1))
    # Root may open everything, so it is asked as another user would be answered.
    monkeypatch.setattr(inventory.os, "access", lambda path, mode: path.name != "nvidia1")
    first, second = inventory.find(root)
    assert first.problem == ""
    assert "may not open /dev/nvidia1" in second.problem


def test_looking_for_devices_loads_no_driver_and_no_cupy() -> None:
    code = (
        "import sys\n"
        "from gpu_worker import celery_app\n"
        "from gpu_worker.worker import node\n"
        "from gpu_worker.gpu import inventory\n"
        "inventory.find(); node._gpus('gpu')\n"
        "assert 'cupy' not in sys.modules\n"
        "maps = open('/proc/self/maps').read()\n"
        "assert 'libcuda' not in maps and 'nvidia-ml' not in maps\n"
    )
    environment = {**os.environ, "REDIS_URL": "redis://localhost:1/0"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


# --- the probe -----------------------------------------------------------------------------------
@pytest.fixture
def stand_in_driver(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let probes import the stand-in driver; call it with how the device behaves."""
    monkeypatch.setenv("PYTHONPATH", f"{DRIVER}:{ROOT}")
    monkeypatch.setattr(examination, "_KEPT", (*examination._KEPT, "STAND_IN_DRIVER"))
    monkeypatch.chdir(ROOT)
    return lambda behaviour: monkeypatch.setenv("STAND_IN_DRIVER", behaviour)


def test_a_working_device_reports_its_properties(
    stand_in_driver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://secret@host/0")
    facts = examine(GPU)
    assert facts.name == GPU.uuid, "the probe sees its own device, by CUDA_VISIBLE_DEVICES"
    assert (facts.compute_capability, facts.cuda, facts.cuda_of_driver) == ("9.0", "13.0", "13.1")
    assert (facts.memory_megabytes, facts.free_megabytes) == (8, 4)
    assert facts.copy_gigabytes_per_second > 0
    assert "REDIS_URL" not in examination.environment_of(GPU)


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("raises", "CUDA_ERROR_ECC_UNCORRECTABLE"),
        ("computes wrongly", "wrong results"),
        ("dies", "with signal 11"),
    ],
)
def test_a_failing_device_is_reported_with_its_reason(
    stand_in_driver: Any, behaviour: str, reason: str
) -> None:
    stand_in_driver(behaviour)
    with pytest.raises(UnusableError, match=reason):
        examine(GPU)


def test_a_hanging_device_is_given_up_and_its_probe_ended(stand_in_driver: Any) -> None:
    stand_in_driver("hangs")
    # The device never answers: without the limit this would not end.
    with pytest.raises(UnusableError, match="did not answer in 2 s"):
        examine(GPU, seconds=2)


def test_a_probe_that_hangs_ends_with_its_worker(stand_in_driver: Any) -> None:
    stand_in_driver("hangs")
    code = (
        "from gpu_worker.gpu import examination\n"
        "examination._KEPT = (*examination._KEPT, 'STAND_IN_DRIVER')\n"
        "from gpu_worker.gpu.inventory import Gpu\n"
        "print('begins', flush=True)\n"
        "examination.examine(Gpu('GPU-1', '', '', 0))\n"
    )
    worker = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE)
    assert worker.stdout
    worker.stdout.readline()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (probes := descendants(worker.pid)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    # It has asked to end with its parent before it loads the driver, and that loads NumPy.
    while not any("numpy" in Path(f"/proc/{pid}/maps").read_text() for pid in probes):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    worker.kill()
    worker.communicate()
    while any(is_alive(pid) for pid in probes):
        assert time.monotonic() < deadline, "a probe outlived its worker"
        time.sleep(0.05)


def test_without_cupy_the_reason_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "cupy.py").write_text("raise ImportError('CuPy is not installed')\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT}")
    with pytest.raises(UnusableError, match="CuPy is not installed"):
        examine(GPU)


# --- one at a time -------------------------------------------------------------------------------
def test_a_device_has_one_user_and_is_released_if_that_one_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    code = (
        "import time\n"
        "from gpu_worker.gpu.lock import device_lock\n"
        "with device_lock('GPU-1'):\n"
        "    print('held', flush=True); time.sleep(60)\n"
    )
    holder = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE)
    assert holder.stdout
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(BusyError), device_lock("GPU-1"):
        pass
    with device_lock("GPU-2"):
        pass
    holder.kill()
    holder.communicate()
    with device_lock("GPU-1"):
        pass


def test_a_devices_name_cannot_leave_the_lock_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "locks"))
    with device_lock("../../escape"):
        pass
    assert [path.name for path in tmp_path.rglob("*.lock")] == ["______escape.lock"]


# --- over time -----------------------------------------------------------------------------------
class Bench:
    """A fleet with one device, whose clock and health a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.there = [GPU]
        self.failing = ""
        self.examined = 0
        self.warmed: list[str] = []
        self.fleet = Fleet(lambda: self.there, self._examine, lambda: self.now, self._warm)

    def _warm(self, gpu: Gpu, facts: Facts) -> None:
        self.warmed.append(gpu.uuid)

    def _examine(self, gpu: Gpu) -> Facts:
        self.examined += 1
        if self.failing:
            raise UnusableError(self.failing)
        return FACTS

    def after(self, seconds: float) -> Any:
        self.now += seconds
        self.fleet.refresh()
        (report,) = self.fleet.reports()
        return report


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    return Bench()


def test_a_working_device_is_examined_periodically(bench: Bench) -> None:
    report = bench.after(0)
    assert (report.state, report.copy_gigabytes_per_second) == ("ready", 1.0)
    bench.after(EXAMINED_EVERY_SECONDS - 1)
    assert bench.examined == 1
    bench.after(1)
    assert bench.examined == 2


def test_a_sick_device_is_retried_at_growing_intervals_and_recovers(bench: Bench) -> None:
    bench.failing = "Xid 79"
    report = bench.after(0)
    assert (report.state, report.reason, report.failures) == ("quarantined", "Xid 79", 1)
    assert report.retry_in_seconds == FIRST_RETRY_SECONDS
    waits = []
    for _ in range(12):
        report = bench.after(report.retry_in_seconds)
        waits.append(report.retry_in_seconds)
    assert waits[:3] == [60, 120, 240]
    assert waits[-1] == LAST_RETRY_SECONDS
    assert bench.examined == 13
    bench.failing = ""
    assert bench.after(report.retry_in_seconds - 1).state == "quarantined"
    report = bench.after(1)
    assert (report.state, report.reason, report.failures) == ("ready", "", 0)


def test_a_vanished_device_is_quarantined_and_examined_on_return(bench: Bench) -> None:
    bench.after(0)
    bench.there = []
    report = bench.after(1)
    assert (report.state, report.reason) == ("quarantined", GONE)
    bench.there = [GPU]
    assert bench.after(1).state == "ready"
    assert bench.examined == 2


def test_a_device_whose_nodes_change_is_examined_at_once(bench: Bench) -> None:
    bench.after(0)
    bench.there = [Gpu(GPU.uuid, GPU.name, GPU.bus, GPU.minor, "a node is missing")]
    bench.after(1)
    assert bench.examined == 2


def test_a_device_in_use_is_left_alone(bench: Bench) -> None:
    holding, done = threading.Event(), threading.Event()

    def use() -> None:
        with device_lock(GPU.uuid):
            holding.set()
            done.wait(10)

    user = threading.Thread(target=use)
    user.start()
    holding.wait(10)
    assert bench.after(0).state == "busy"
    assert bench.examined == 0
    done.set()
    user.join()
    assert bench.after(0).state == "ready"


def test_a_device_not_yet_examined_reports_nothing() -> None:
    waiting, release = threading.Event(), threading.Event()

    def slow(gpu: Gpu) -> Facts:
        waiting.set()
        release.wait(10)
        return FACTS

    fleet = Fleet(lambda: [GPU], slow, warm=lambda gpu, facts: None)
    thread = threading.Thread(target=fleet.refresh)
    thread.start()
    waiting.wait(10)
    (report,) = fleet.reports()
    assert (report.state, report.cupy, report.memory_megabytes) == ("unknown", "", None)
    release.set()
    thread.join()
    assert fleet.reports()[0].state == "ready"


# --- the report ----------------------------------------------------------------------------------
def test_only_a_worker_of_the_gpu_queue_reports_devices(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.after(0)
    monkeypatch.setattr("gpu_worker.worker.node.fleet", lambda: bench.fleet)
    assert node_report(QUEUE_CPU).gpus == []
    report = NodeReport.from_message(node_report(QUEUE_GPU).to_message())
    assert [gpu.uuid for gpu in report.gpus] == [GPU.uuid]
    assert report.tracks == ["cupy"]
    bench.failing = "Xid 79"
    bench.after(EXAMINED_EVERY_SECONDS)
    report = node_report(QUEUE_GPU)
    assert (report.tracks, report.gpus[0].reason) == ([], "Xid 79")


@pytest.mark.parametrize(("queue", "watches"), [(QUEUE_GPU, 1), (QUEUE_CPU, 0)])
def test_a_worker_watches_devices_if_its_queue_is_for_them(
    queue: str, watches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://localhost:1/0")
    from gpu_worker import celery_app

    started: list[str] = []

    class Started:
        def __init__(self, *arguments: Any) -> None:
            self.what = "report" if arguments[-1] == queue else "watch"

        def start(self) -> None:
            started.append(self.what)

    monkeypatch.setattr(celery_app, "Watch", Started)
    monkeypatch.setattr(celery_app, "NodeReporter", Started)
    consumed = {queue: SimpleNamespace(name=queue)}
    queues = SimpleNamespace(queues=SimpleNamespace(consume_from=consumed))
    closed: list[str] = []
    sender = SimpleNamespace(
        app=SimpleNamespace(amqp=queues),
        call_soon=lambda change: change(),
        cancel_task_queue=closed.append,
    )
    celery_app._announce(sender=sender)
    assert closed == [QUEUE_GPU] * watches, "until devices are examined, no job is taken"
    assert started == ["watch"] * watches + ["report"]


def test_the_watch_goes_on_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class EndError(BaseException):
        pass

    turns: list[float] = []

    def sleep(seconds: float) -> None:
        turns.append(seconds)
        if len(turns) == 3:
            raise EndError

    def find() -> list[Gpu]:
        raise RuntimeError("unreadable")

    monkeypatch.setattr("gpu_worker.gpu.fleet.time.sleep", sleep)
    with pytest.raises(EndError):
        Watch(Fleet(find)).run()
    assert len(turns) == 3
