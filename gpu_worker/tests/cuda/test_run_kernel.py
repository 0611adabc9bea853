"""The command that runs a program with kernels, for its author."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_worker import run_kernel

PROGRAM = '''import cupy as cp
import numpy as np

SOURCE = r"""
extern "C" __global__ void scale(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  CONDITION y[i] = 2 * x[i];
}"""
kernel = cp.RawKernel(SOURCE, "scale")
x = cp.arange(100, dtype=cp.float32)
y = cp.empty_like(x)
kernel((2,), (64,), (x, y, np.int32(100)))
print("sum", float(y.sum()))
'''


def run(tmp_path: Path, source: str, *options: str) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "program.py"
    file.write_text(source)
    command = [sys.executable, "-m", "gpu_worker.run_kernel", str(file), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_a_clean_program_prints_its_results_and_counters(tmp_path: Path) -> None:
    done = run(tmp_path, PROGRAM.replace("CONDITION", "if (i < n)"))

    assert done.returncode == 0, done.stderr
    assert "sum 9900.0" in done.stdout
    assert "Nothing wrong" in done.stdout
    assert "scale: 1 launches, grid (2, 1, 1), block (64, 1, 1)" in done.stdout
    assert "x: 400 bytes, read 400, written 0" in done.stdout


def test_a_defect_is_reported_with_its_line_and_the_call(tmp_path: Path) -> None:
    done = run(tmp_path, PROGRAM.replace("CONDITION", ""))

    assert done.returncode == 1
    assert "out-of-bounds-read in scale, line 4" in done.stdout
    assert "x[100], past its end" in done.stdout
    assert "line 12: kernel((2,), (64,)" in done.stdout
    assert "Nothing wrong" not in done.stdout


def test_the_report_as_json(tmp_path: Path) -> None:
    done = run(tmp_path, f"print('begun')\n{PROGRAM.replace('CONDITION', '')}", "--json")

    data = json.loads(done.stdout)
    assert done.stderr == "begun\n"
    assert data["error"].startswith("CUDADriverError")
    assert [item["kind"] for item in data["diagnostics"]] == ["out-of-bounds-read"]


LARGE = '''import cupy as cp
SOURCE = r"""
template <int HELD> __global__ void turn(float* x) {
  float held[HELD];
  #pragma unroll
  for (int k = 0; k < HELD; k++) held[k] = x[k * 1024 + threadIdx.x];
  __syncthreads();
  #pragma unroll
  for (int k = 0; k < HELD; k++) x[k * 1024 + threadIdx.x] = held[HELD - 1 - k];
}"""
module = cp.RawModule(code=SOURCE, name_expressions=("turn<2>", "turn<80>"))
for name in ("turn<2>", "turn<80>"):
    module.get_function(name)((1,), (1024,), (cp.ones(80 * 1024, cp.float32),))
'''


def test_a_launch_that_needs_too_many_registers_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "program.py").write_text(LARGE)

    assert run_kernel.main([str(tmp_path / "program.py")]) == 1

    printed = capsys.readouterr().out
    assert printed.startswith("error: launch-size in turn<80>\n")
    assert "a block has at most 65,536" in printed
    assert "in turn<2>" not in printed


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gpu_worker.run_kernel", str(tmp_path / "missing.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    assert done.returncode == 2
    assert "no file" in done.stderr


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where to write a program that imports a module beside it."""
    monkeypatch.delitem(sys.modules, "beside_kernel", raising=False)
    (tmp_path / "beside_kernel.py").write_text("def stop():\n    raise ValueError('here')\n")
    return tmp_path / "program.py"


def test_it_runs_as_python_would_run_it(beside: Path, capfd: pytest.CaptureFixture[str]) -> None:
    beside.write_text("import os, sys, beside_kernel\nos.write(1, b'raw ')\nprint(sys.argv)\n")

    assert run_kernel.main([str(beside), "--json", "--", "--json", "4"]) == 0

    printed, errors = capfd.readouterr()
    assert json.loads(printed)["error"] == ""
    assert errors == f"raw {[str(beside), '--json', '4']}\n"


def test_a_crash_is_reported_with_the_lines_of_all_files_and_no_praise(
    beside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    beside.write_text("import beside_kernel\nbeside_kernel.stop()\n")

    assert run_kernel.main([str(beside)]) == 1

    assert capsys.readouterr().out == (
        "The program stopped: ValueError: here\n  line 2: beside_kernel.stop()\n"
        "  beside_kernel.py, line 2: raise ValueError('here')\n"
    )


@pytest.mark.parametrize(("code", "ends", "said"), [("3", 1, "SystemExit: 3"), ("0", 0, "Nothing")])
def test_the_exit_code_is_the_programs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], code: str, ends: int, said: str
) -> None:
    (tmp_path / "program.py").write_text(f"raise SystemExit({code})\n")

    assert run_kernel.main([str(tmp_path / "program.py")]) == ends
    assert said in capsys.readouterr().out


@pytest.mark.parametrize("source", [b"def (:\n", b"a\0b", b"\xff"])
def test_a_file_that_is_not_python_cannot_be_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: bytes
) -> None:
    (tmp_path / "program.py").write_bytes(source)

    assert run_kernel.main([str(tmp_path / "program.py")]) == 2

    printed, errors = capsys.readouterr()
    assert printed == ""
    assert "cannot be run" in errors
