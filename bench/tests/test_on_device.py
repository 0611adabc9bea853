"""The device's script against a stand-in: what is done, what is left out, what is never written."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bench import device as script
from bench.on_device import (
    agreement,
    building,
    cells,
    correctness,
    driver,
    plan,
    programs,
    run,
    timing,
)
from bench.on_device.budget import Budget
from bench.on_device.contenders import CLASSES, FUSED, KINDS, PLAIN, Kind, layer_calls
from bench.on_device.writing import NotADeviceError, write
from bench.tests.stand_in_device import NAME, StandInDevice
from gpu_worker.exercises import get
from gpu_worker.gpu.inventory import Gpu
from gpu_worker.gpu.lock import FOLDER, BusyError, device_lock

ROOT = Path(__file__).resolve().parents[2]
OWN = tuple(kind for kind in KINDS if not kind.needs)
QUICK = timing.Rules(repeats_least=2, repeats_most=2, warm_ups=1)


@pytest.fixture(scope="module")
def device() -> StandInDevice:
    return StandInDevice()


def recorded() -> dict[str, Any]:
    with np.load(programs.OUTPUTS) as found:
        return dict(found)


def small_cells() -> list[plan.Cell]:
    return list(plan.cells(dims=(128,), dtypes=("float32",), call_bytes=4096))


# --- correctness ---------------------------------------------------------------------------------
def test_the_chosen_lengths_reach_every_kernel() -> None:
    for slug in ("rmsnorm", "layernorm"):
        launch = get(slug).module("launch").LAUNCHES
        for dtype in correctness.DTYPES:
            chosen = correctness.chosen_dims(launch, dtype)
            reached = set[str]().union(
                *(correctness.kernels_of(launch, dtype, correctness.FEW_ROWS, d) for d in chosen)
            )
            assert reached == set(launch.instances(dtype))


def test_right_kernels_pass_in_all_families(device: StandInDevice) -> None:
    cases = list(correctness.all_cases(("float32", "bfloat16"), dims=(33,), exercises=("rmsnorm",)))
    cases = [replace(case, rows=min(case.rows, 6)) for case in cases]
    found = correctness.check(device, Budget(60), 3, iter(cases))
    assert found["failures"] == []
    assert found["cases"] == found["of"] == len(cases)
    assert {case.family for case in cases} == set(correctness.FAMILIES)
    assert "rmsnorm: forward_warp<float, 1, 2>" in found["kernels"]


def test_every_kernel_is_built_ahead_once(
    device: StandInDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[tuple[str, str]] = []

    class Module:
        def __init__(self, slug: str, names: tuple[str, ...]) -> None:
            self.slug, self.names = slug, names

        def get_function(self, name: str) -> None:
            assert name in self.names
            built.extend((self.slug, one) for one in self.names)

    for slug in CLASSES:
        monkeypatch.setattr(get(slug).module("fused_cupy"), "module_of", partial(Module, slug))
    for part in range(3):
        building.build_part(part, 3)
    wanted = [
        (slug, name)
        for slug in CLASSES
        for dtype in correctness.DTYPES
        for name in correctness.launches_of(slug).instances(dtype)
    ]
    assert sorted(built) == sorted(wanted)


def test_a_wrong_kernel_is_found(device: StandInDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    module = get("rmsnorm").module("fused_cupy")
    right = module.RMSNormScratch.forward

    def last_row_twice(self: Any, x: Any) -> Any:
        y = right(self, x)
        y[-1] = y[0]
        return y

    monkeypatch.setattr(module.RMSNormScratch, "forward", last_row_twice)
    case = correctness.Case("rmsnorm", "fused_cupy", "float32", "normal", 5, 33)
    found = correctness.check(device, Budget(60), 3, iter([case]))
    assert found["failed"] == 1
    assert "y is off by" in found["failures"][0]


def test_a_kernel_that_raises_is_a_failure_and_not_the_end(
    device: StandInDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = get("rmsnorm").module("fused_cupy")
    monkeypatch.delattr(module.RMSNormScratch, "backward")
    cases = [correctness.Case("rmsnorm", "fused_cupy", "float32", "normal", 5, 33)] * 2
    found = correctness.check(device, Budget(60), 3, iter(cases))
    assert (found["cases"], found["failed"]) == (2, 2)
    assert "AttributeError" in found["failures"][0]


def test_cases_that_do_not_fit_are_said(device: StandInDevice) -> None:
    budget = Budget(0)
    found = correctness.check(device, budget, 3, correctness.all_cases(dims=(33,)))
    assert found["cases"] == 0
    assert budget.left_out == [
        f"correctness: {found['of']} of {found['of']} cases, for want of time"
    ]


# --- agreement of the executor -------------------------------------------------------------------
def test_the_recorded_outputs_are_those_of_the_present_kernels() -> None:
    known = recorded()
    for program in programs.programs():
        assert known.get(f"sha256 {program.name}") == program.sha256, (
            f"{program.name} changed: run python -m bench.executor_outputs"
        )


def test_what_the_executor_made_of_the_fused_kernels_is_right() -> None:
    known = recorded()
    reached: dict[str, set[str]] = {}
    for program in programs.programs():
        if not program.is_fused:
            continue
        launch = get(program.exercise).module("launch").LAUNCHES
        reference = get(program.exercise).module("reference_numpy")
        cls = getattr(reference, get(program.exercise).class_name)
        for case in programs.runs(program):
            given = programs.inputs(program, case)
            wide = programs.Inputs(
                given.x.astype(np.float64),
                given.dout.astype(np.float64),
                {name: value.astype(np.float64) for name, value in given.parameters.items()},
            )
            exact = programs.play(cls, case, wide, lambda a: a, lambda a: a)
            scales = agreement._scales(program, case, given)
            for quantity, value in exact.items():
                got = known[f"{case.key(program)} {quantity}"]
                assert agreement._share(case, quantity, got, value, scales[quantity]) <= 1
            names = correctness.kernels_of(launch, case.dtype, case.rows, case.dim)
            reached.setdefault(program.exercise, set()).update(names)
    for slug, names in reached.items():
        every = {
            n for d in correctness.DTYPES for n in get(slug).module("launch").LAUNCHES.instances(d)
        }
        assert len(names) > 0.8 * len(every)


def test_the_same_kernels_agree_and_changed_results_do_not(device: StandInDevice) -> None:
    program = next(p for p in programs.programs() if p.path.stem == "raw_block_per_row")
    known = recorded()
    found = agreement.compare(device, Budget(60), known, [program], ("float32",))
    assert found["agree"]
    assert found["programs"][program.name]["identical"] == 9
    key = f"{program.name} float32 5 33 dx"
    known[key] = known[key] * np.float32(1.001)
    found = agreement.compare(device, Budget(60), known, [program], ("float32",))
    assert not found["agree"]
    assert key in found["programs"][program.name]["differences"][0]


def test_outputs_of_another_version_of_a_program_are_not_compared(device: StandInDevice) -> None:
    program = programs.programs()[0]
    budget, known = Budget(60), recorded()
    known[f"sha256 {program.name}"] = np.array("0" * 64)
    found = agreement.compare(device, budget, known, [program], ("float32",))
    assert not found["agree"]
    assert "executor_outputs" in budget.left_out[0]


# --- cells ---------------------------------------------------------------------------------------
def test_every_cell_moves_half_a_gigabyte_and_all_lengths_and_dtypes_are_there() -> None:
    every = list(plan.cells())
    assert min(cell.least_bytes for cell in every) >= plan.CALL_BYTES
    assert {cell.dim for cell in every} >= {2**n for n in range(7, 17)}
    assert len(every) == len(set(every)) == 10 * 3 * 2 * 2


def test_own_contenders_are_timed_and_their_results_checked(device: StandInDevice) -> None:
    budget = Budget(60)
    found = cells.time_cells(device, budget, small_cells(), OWN, QUICK, 1)
    assert [each["failed"] | each["inexact"] for each in found] == [{}] * 4
    assert all(set(each["times"]) == {"copy", FUSED, PLAIN} for each in found)
    assert all(each["times"]["copy"]["of_copy"] == 1 for each in found)
    assert found[0]["copy_gigabytes_per_second"] == pytest.approx(1.0, rel=0.01)


def test_a_contender_that_is_wrong_or_fails_is_not_timed(device: StandInDevice) -> None:
    def wrong(device: Any, cell: Any, sets: Any) -> Any:
        return [lambda: sets[0].x for _ in sets]

    def failing(device: Any, cell: Any, sets: Any) -> Any:
        raise MemoryError("no room")

    kinds = (*OWN, Kind("wrong", "", wrong), Kind("failing", "", failing))
    found = cells.time_cells(device, Budget(60), small_cells()[:1], kinds, QUICK, 1)[0]
    assert set(found["times"]) == {"copy", FUSED, PLAIN}
    assert "off by" in found["failed"]["wrong"]
    assert found["failed"]["failing"] == "MemoryError: no room"


def test_a_device_that_cannot_free_its_memory_does_not_end_the_measurements(
    device: StandInDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise RuntimeError("cudaErrorIllegalAddress")

    monkeypatch.setattr(device, "free", refuse)
    found = cells.time_cells(device, Budget(60), small_cells()[:2], OWN[:1], QUICK, 1)
    assert [len(each["times"]) for each in found] == [2, 2]


def test_what_is_not_installed_is_said(device: StandInDevice) -> None:
    budget = Budget(60)
    absent = Kind("peer", "no_such_package_here", layer_calls("fused_cupy"))
    cells.time_cells(device, budget, [], (absent,), QUICK, 1)
    assert budget.left_out == ["peer: no_such_package_here is not installed"]


def test_without_time_no_cell_is_begun_and_each_is_said(device: StandInDevice) -> None:
    budget = Budget(0)
    assert cells.time_cells(device, budget, small_cells(), OWN, QUICK, 1) == []
    assert budget.left_out == [f"times of {cell}: for want of time" for cell in small_cells()]


def test_cells_that_do_not_fit_into_the_budget_are_left_out_and_said() -> None:
    now = [0.0]
    budget = Budget(100, clock=lambda: now[0])
    pace = cells.Pace(budget, 10)
    done = 0
    while pace.allows_cell():
        now[0] += 20
        pace.took(20, 0)
        done += 1
    assert done == 4
    assert now[0] <= 100


def test_dear_contenders_are_left_out_before_cells_are() -> None:
    now = [0.0]
    budget = Budget(100, clock=lambda: now[0])
    assert cells.Pace(budget, 5).allows_dear()
    assert not cells.Pace(budget, 90).allows_dear()


# --- the whole, and what becomes of it -----------------------------------------------------------
def scope(case_count: int = 2) -> run.Scope:
    cases = list(correctness.all_cases(("float32",), (33,), ("uniform",), ("rmsnorm",)))
    return run.Scope(
        dtypes=("float32",),
        cases=cases[:case_count],
        programs=[p for p in programs.programs() if p.path.stem == "raw_block_per_row"],
        cells=small_cells()[:1],
        kinds=OWN,
        rules=QUICK,
    )


def test_results_of_the_stand_in_are_refused_and_no_file_is_made(
    device: StandInDevice, tmp_path: Path
) -> None:
    results = run.measure(device, Budget(60), 1, recorded(), scope())
    assert run.is_right(results)
    json.dumps(results)
    for names in (driver.device_names, lambda: [], lambda: ["NVIDIA H200"]):
        with pytest.raises(NotADeviceError, match=NAME):
            write(results, tmp_path / "device.json", names)
    assert list(tmp_path.iterdir()) == []


def test_what_there_is_is_kept_before_the_next_length_of_rows(device: StandInDevice) -> None:
    seen: list[tuple[int, bool]] = []
    lengths = plan.cells(
        dims=(128, 256), dtypes=("float32",), exercises=("rmsnorm",), call_bytes=4096
    )
    run.measure(
        device,
        Budget(60),
        1,
        recorded(),
        replace(scope(1), cells=list(lengths)),
        lambda results: seen.append((len(results["times"]), run.is_right(results))),
    )
    assert seen == [(0, True), (2, True), (4, True)]


def test_results_without_any_case_are_not_right(device: StandInDevice) -> None:
    results = run.measure(device, Budget(60), 1, recorded(), scope(case_count=0))
    assert not run.is_right(results)


def test_without_a_device_the_script_says_so_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(driver, "device_names", list)
    out = tmp_path / "device.json"
    assert script.main(["--out", str(out)]) == script.NO_DEVICE
    assert "no NVIDIA device" in capsys.readouterr().out
    assert not out.exists()


def test_the_script_keeps_nothing_of_a_device_that_the_driver_does_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "device_names", lambda: ["NVIDIA H200"])
    monkeypatch.setattr(building, "build_all", lambda seconds: 0.0)
    stand_in = SimpleNamespace(CudaDevice=StandInDevice)
    monkeypatch.setitem(sys.modules, "bench.on_device.cuda", stand_in)
    with pytest.raises(NotADeviceError, match=NAME):
        script.main(["--seconds", "0.5", "--out", str(tmp_path / "device.json")])
    assert list(tmp_path.iterdir()) == []


def test_the_script_and_workers_hold_one_lock_of_a_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    found = [Gpu("GPU-1", "", "0000:0A:00.0", 0), Gpu("GPU-2", "", "0000:0b:00.0", 1)]
    with script.lock_of("0000:0a:00.0", found):
        with pytest.raises(BusyError), device_lock("GPU-1"):
            pass
        with device_lock("GPU-2"), script.lock_of("0000:0c:00.0", found):
            pass


def test_numpy_and_cupy_are_all_that_the_script_needs() -> None:
    """Run the whole against the stand-in where only NumPy and its dtypes can be imported."""
    code = (
        "import sys\n"
        "import importlib.abc, site, sysconfig\n"
        "allowed = {'numpy', 'ml_dtypes', 'cupy', 'bench', 'gpu_worker'}\n"
        "packages = [p for p in sys.path if 'site-packages' in p]\n"
        "class Only(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        top = name.partition('.')[0]\n"
        "        if top in allowed or top in sys.stdlib_module_names: return None\n"
        "        raise ModuleNotFoundError(f'{name} is not installed', name=name)\n"
        "sys.meta_path.insert(0, Only())\n"
        "import bench.device, bench.device_table\n"
        "from bench.on_device import building\n"
        "from bench.tests import stand_in_device\n"
        "stand_in_device.use_executor()\n"
        "import importlib\n"
        "for slug in ('rmsnorm', 'layernorm'):\n"
        "    for name in ('fused_cupy', 'reference_cupy'):\n"
        "        importlib.import_module(f'gpu_worker.exercises.{slug}.{name}')\n"
        "assert sum(len(names) for _, names in building.modules()) > 200\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
