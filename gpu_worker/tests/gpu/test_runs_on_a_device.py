"""A run with a device in the real sandbox; behind CuPy's name stands the stand-in driver."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gpu_worker.gpu.limits import limits_of
from gpu_worker.gpu.sandbox import (
    profile as device_profile,
)
from gpu_worker.gpu.sandbox import (
    syscalls as device_syscalls,
)
from gpu_worker.gpu.sandbox.profile import DeviceProfile
from gpu_worker.gpu.sandbox.setup import DeviceSetup
from gpu_worker.gpu.sandbox.zygote import DeviceZygote
from gpu_worker.gpu.track import HeldDevice
from gpu_worker.judge import Graded, Options, grade_source
from gpu_worker.judge.running.timed_calls import Timed
from gpu_worker.sandbox import (
    bubblewrap,
    canary,
    isolation,
    syscalls,
)
from gpu_worker.sandbox.errors import RefusedError, SandboxError
from gpu_worker.sandbox.inside.device.driver import DriverTouchedError, assert_untouched
from gpu_worker.sandbox.inside.device.layers import ResidentWatch
from gpu_worker.sandbox.inside.device.library import DeviceLibrary
from gpu_worker.sandbox.inside.layers import landlock
from gpu_worker.sandbox.inside.layers.memory import PAGE
from gpu_worker.sandbox.inside.wire import Job, encode_job
from gpu_worker.sandbox.run import Request, RunResult
from gpu_worker.sandbox.setup import Setup
from gpu_worker.tests.cupy.conftest import submission
from gpu_worker.tests.gpu.machine import machine
from gpu_worker.tests.gpu.stand_in import (
    FACTS,
    GPU,
    GRANTED_ON_PURPOSE,
    attacked,
    stand_in_profile,
)

GradeOnDevice = Callable[..., Graded]


class Untimed(HeldDevice):
    """A device on which nothing is timed, and whose further cases are left out: they are large."""

    def further_cases(self, *_: Any) -> list[Any]:
        return []

    def measure(self, *_: Any) -> Timed:
        return Timed()


@pytest.fixture
def grade_on_device(device_zygote: DeviceZygote) -> GradeOnDevice:
    def run(source: str, **options: Any) -> Graded:
        return grade_source(
            "rmsnorm",
            "cupy",
            source,
            Options(limits=limits_of(FACTS), **options),
            zygote=device_zygote,
            device=Untimed(GPU, FACTS),
        )

    return run


def run(zygote: DeviceZygote, program: str, memory_bytes: int = 256 << 20) -> RunResult:
    """Run a program that is no grading; a device is there all the same."""
    return zygote.run(
        Request(
            job=encode_job(Job(program, "", (), library="device")),
            wall_seconds=10,
            cpu_seconds=10,
            memory_bytes=memory_bytes,
            file_bytes=1 << 20,
            output_bytes=1 << 16,
            result_bytes=1 << 16,
        )
    )


# --- what the sandbox grants ---------------------------------------------------------------------
LOOKING = """
import errno, fcntl, json, mmap, os, socket, threading
def able(attempt):
    try: attempt()
    except (OSError, RuntimeError, MemoryError): return False
    return True
def name_a_thread():
    found = []
    def name():
        path = f"/proc/self/task/{threading.get_native_id()}/comm"
        found.append(able(lambda: open(path, "w").write("named")))
    thread = threading.Thread(target=name); thread.start(); thread.join()
    if not all(found): raise OSError
def command(path):
    try: fcntl.ioctl(os.open(path, os.O_RDONLY), 0x46)
    except OSError as error: return errno.errorcode[error.errno]
print(json.dumps({
    "commands": [command(path) for path in ("/dev/nvidia0", "/dev/null", "/dev/urandom")],
    "device": able(lambda: open("/dev/nvidia0", "r+b")),
    "control": able(lambda: open("/dev/nvidiactl", "r+b")),
    "other device": able(lambda: open("/dev/nvidia1", "r+b")),
    "threads with names": able(name_a_thread),
    "memory file": able(lambda: os.memfd_create("x")),
    "address space": able(lambda: mmap.mmap(-1, 1 << 36, flags=0x4022, prot=0)),
    "memory": able(lambda: bytearray(1 << 30)),
    "processes": able(os.fork),
    "sockets": able(lambda: socket.socket()),
    "other processes": [name for name in os.listdir("/proc") if name.isdecimal()],
    "out of memory score": able(lambda: open("/proc/self/oom_score_adj", "w").write("-1")),
    "kernel": able(lambda: open("/proc/sys/kernel/hostname", "w").write("x")),
    "secret": os.path.exists("/etc/passwd"),
    "cache": os.environ["CUPY_CACHE_DIR"] == os.getcwd() and os.listdir("."),
}))
open("left_behind", "w").write("for the next one")
"""


def test_a_run_gets_what_a_device_needs_and_nothing_else(device_zygote: DeviceZygote) -> None:
    # An older Landlock knows nothing of commands to devices.
    untold = "EACCES" if landlock.version() >= 5 else "ENOTTY"
    for _ in range(2):
        result = run(device_zygote, LOOKING)
        found = json.loads(result.output)
        assert found == {
            # Neither one that it knows, nor one that it may be told.
            "commands": ["ENOTTY", untold, untold],
            "device": True,
            "control": True,
            "other device": False,
            "threads with names": True,
            "memory file": False,
            "address space": True,
            "memory": False,
            "processes": False,
            "sockets": False,
            "other processes": ["1"],
            "out of memory score": False,
            "kernel": False,
            "secret": False,
            "cache": [],
        }
        assert (result.ending, result.exit_code) == ("ended", 0)


SHARING = """
import mmap
memory = mmap.mmap(-1, 192 << 20)
while True:
    for place in range(0, len(memory), 4096):
        memory[place] = 1
"""


def test_shared_memory_beyond_kernel_limits_ends_a_run(
    device_zygote: DeviceZygote,
) -> None:
    assert run(device_zygote, SHARING, 64 << 20).ending == "out_of_memory"


def test_runs_without_a_device_keep_the_usual_filter() -> None:
    granted = {*device_syscalls.THREADS, *device_syscalls.MEMORY, *device_syscalls.FILES}
    assert granted | {"ioctl", "clone"} | set(syscalls.ALLOWED) > set(syscalls.ALLOWED)
    assert not granted & set(syscalls.ALLOWED)
    assert "ioctl" not in syscalls.ALLOWED
    assert ("clone", 0) not in syscalls.BY_LOW_WORD
    assert "memfd_create" in syscalls.NOT_IMPLEMENTED
    assert device_syscalls.program() != syscalls.program()
    setup = isolation.establish().setup
    walls = setup.walls(setup.interpreter())
    assert (walls.device, walls.program) == (None, syscalls.program())
    assert "nvidia" not in " ".join(setup.command(setup.interpreter(), 3))


def test_without_namespaces_there_is_no_run_on_a_device() -> None:
    profile = DeviceProfile("GPU-1", (), (), (), 1)
    with pytest.raises(RefusedError, match="namespaces"):
        DeviceSetup.of(Setup(landlock=6, seccomp=True), profile)


def test_the_bound_nodes_are_those_of_the_device_that_exist(tmp_path: Path) -> None:
    root = machine(tmp_path, minors=(3,))
    (root / "dev/nvidia-uvm-tools").touch()
    wanted = ("/dev/nvidia3", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
    bound = device_profile.bound_nodes((*wanted, "/dev/nvidia4"), root)
    assert [inside for _, inside in bound] == list(wanted[:3])
    assert all(here == f"{root}{inside}" for here, inside in bound)


def test_the_drivers_library_is_bound_where_the_system_folders_are_not(tmp_path: Path) -> None:
    here, empty = tmp_path / "driver", tmp_path / "empty"
    for folder in (here, empty):
        folder.mkdir()
    (here / device_profile.DRIVER_LIBRARY).touch()
    environment = {"LD_LIBRARY_PATH": f"{empty}:{here}:relative:/usr/lib/elsewhere"}
    assert device_profile.driver_folders(environment, often=(str(here),)) == (str(here),)
    profile = DeviceProfile("GPU-1", (), (str(here),), (), 1)
    assert profile.loader_path() == {"LD_LIBRARY_PATH": str(here)}
    setup = DeviceSetup.of(isolation.establish().setup, profile)
    words = setup.command(setup.interpreter(), 3)
    place = words.index(str(here))
    assert words[place - 1 : place + 2] == ["--ro-bind", str(here), str(here)]
    assert place < words.index("--remount-ro")


def test_nvidias_compiler_is_found_inside_where_it_is_installed(tmp_path: Path) -> None:
    for name in ("nvidia/cu12/lib", "nvidia/cu13/lib", "cupy", "numpy"):
        (tmp_path / name).mkdir(parents=True)
    packages = device_profile.package_folders(tmp_path)
    assert [Path(path).name for path in packages] == ["cupy", "nvidia"]
    profile = DeviceProfile("GPU-1", (), (), packages, 1)
    toolkit = f"{bubblewrap.PACKAGES}/nvidia/cu13"
    assert profile.environment()["CUDA_PATH"] == toolkit
    assert profile.loader_path()["LD_LIBRARY_PATH"].endswith(f"{toolkit}/lib")


def test_a_zygote_with_the_driver_loaded_is_unusable(tmp_path: Path) -> None:
    maps = tmp_path / "maps"
    maps.write_text("7f00-7f01 r-xp 00000000 00:00 0 /usr/lib/x86_64-linux-gnu/libcudart.so.13\n")
    assert_untouched(str(maps))
    maps.write_text("7f00-7f01 r-xp 00000000 00:00 0 /usr/lib/x86_64-linux-gnu/libcuda.so.1\n")
    with pytest.raises(DriverTouchedError, match=r"libcuda\.so"):
        assert_untouched(str(maps))


def test_the_attacks_on_the_sandbox_fail_beside_a_device_too(device_zygote: DeviceZygote) -> None:
    found = attacked(device_zygote)
    assert len(found) > 50
    assert {name for name, words in found.items() if words} == GRANTED_ON_PURPOSE, found


def test_the_canary_sees_what_is_granted_and_nothing_more(device_zygote: DeviceZygote) -> None:
    device_zygote.start()
    setup: Any = device_zygote._setup
    assert canary.breaches(device_zygote, setup, setup.granted) == []
    ungranted = " ".join(canary.breaches(device_zygote, setup))
    for words in ("started a thread", "table of processes", "environment", "memory can be read",
                  "limit AS", "limit NPROC", "limit NOFILE"):  # fmt: skip
        assert words in ungranted


class Broken(DeviceProfile):
    """A device that cannot be used from inside the sandbox."""

    def environment(self) -> dict[str, str]:
        return {**DeviceProfile.environment(self), "STAND_IN_DRIVER": "refuses"}


def test_a_device_unusable_in_the_sandbox_is_our_fault(tmp_path: Path) -> None:
    usual = stand_in_profile(tmp_path / "root")
    fields = {field.name: getattr(usual, field.name) for field in dataclasses.fields(usual)}
    with (
        pytest.raises(SandboxError, match="cudaErrorNoDevice"),
        DeviceZygote(Broken(**fields)) as zygote,
    ):
        zygote.start()


@pytest.mark.parametrize(
    ("resident", "stuck"), [(99, False), (100, False), (150, False), (151, True)]
)
def test_a_run_is_ended_for_memory_in_use_beyond_its_limit_and_what_it_shares(
    tmp_path: Path, resident: int, stuck: bool
) -> None:
    (tmp_path / "statm").write_text(f"999999999 {resident} 3 1 0 99 0")
    watch = ResidentWatch(os.open(tmp_path, os.O_RDONLY), 100 * PAGE, 50 * PAGE)
    watch._statm = os.open(tmp_path / "statm", os.O_RDONLY)
    assert watch.is_stuck() is stuck
    os.close(watch._statm)


# --- gradings ------------------------------------------------------------------------------------
def test_a_right_program_is_accepted_and_the_report_says_where_it_ran(
    grade_on_device: GradeOnDevice,
) -> None:
    graded = grade_on_device(submission("array_expressions"))
    assert graded.outcome == "accepted", (graded.report.failure, graded.report.worst)
    assert graded.report.execution == "on a device: stand-in, CuPy 0.stand.in, CUDA 13.0"
    assert graded.report.receipt is not None
    assert graded.report.receipt.limits["device_megabytes"] == 4_000


@pytest.mark.parametrize(
    ("name", "mistake"),
    [("gamma_missing_in_sum", "gamma-missing-in-sum"), ("input_modified", None)],
)
def test_a_wrong_program_gets_its_mistake_named(
    grade_on_device: GradeOnDevice, name: str, mistake: str | None
) -> None:
    graded = grade_on_device(submission(name, "wrong"), cases="public")
    assert graded.outcome == "wrong_answer"
    named = [found.id for found in graded.report.mistakes]
    assert mistake is None or mistake in named, named


BREAKS = """
    def backward(self, dout):
        cp.cuda.stand_in_break()
        return dout
"""


def test_an_error_of_the_device_ends_the_run_that_made_it_and_no_other(
    grade_on_device: GradeOnDevice,
) -> None:
    right = submission("array_expressions")
    graded = grade_on_device(f"{right}\n{BREAKS}", cases="public")
    assert graded.outcome == "runtime_error"
    assert graded.report.failure is not None
    assert "CUDARuntimeError in backward" in graded.report.failure.message
    assert grade_on_device(right, cases="public").outcome == "accepted"


def test_unwritten_memory_holds_no_earlier_result() -> None:
    filled: list[tuple[int, int]] = []

    class Block:
        def __init__(self, size: int, dtype: Any) -> None:
            self.nbytes, self.data = size, self

        def memset(self, value: int, size: int) -> None:
            filled.append((size, value))

    library = DeviceLibrary.__new__(DeviceLibrary)
    library.cupy = SimpleNamespace(empty=Block)
    library.poison([np.zeros(3), np.zeros(3), np.zeros(0), np.zeros(5, np.float32)])
    assert sorted(filled) == [(20, 0xFF)] * 3 + [(24, 0xFF)] * 3
    for dtype in (np.float16, np.float32, np.float64, ml_dtypes.bfloat16):
        assert np.isnan(np.full(8, 0xFF, np.uint8).view(dtype)).all()


def test_numpy_results_are_refused_on_a_device(grade_on_device: GradeOnDevice) -> None:
    own = "    def forward(self, x):\n        return __import__('numpy').zeros(x.shape, x.dtype)\n"
    graded = grade_on_device(f"{submission('array_expressions')}\n{own}", cases="public")
    assert graded.outcome == "contract_error"
    assert graded.report.failure is not None
    assert "exactly a cupy.ndarray" in graded.report.failure.message


def test_a_run_is_ended_by_the_watch_over_the_devices_memory(
    grade_on_device: GradeOnDevice, device_zygote: DeviceZygote
) -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, b"over\n")
    device_zygote.ender = read_end
    try:
        graded = grade_on_device("while True: pass\n", cases="public")
    finally:
        device_zygote.ender = None
        os.close(read_end)
        os.close(write_end)
    assert graded.outcome == "memory_limit"
    assert graded.report.failure is not None
    assert graded.report.failure.limit == "4000 MB"


def test_a_watch_that_sees_nothing_ends_no_run(
    grade_on_device: GradeOnDevice, device_zygote: DeviceZygote
) -> None:
    read_end, write_end = os.pipe()
    os.close(write_end)
    device_zygote.ender = read_end
    try:
        graded = grade_on_device(submission("array_expressions"), cases="public")
    finally:
        device_zygote.ender = None
        os.close(read_end)
    assert graded.outcome == "accepted"
