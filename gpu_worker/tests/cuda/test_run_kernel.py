"""The command that runs a program with kernels, for its author."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

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


def test_a_mistake_is_told_with_its_line_and_the_call(tmp_path: Path) -> None:
    done = run(tmp_path, PROGRAM.replace("CONDITION", ""))

    assert done.returncode == 1
    assert "out-of-bounds-read in scale, line 4" in done.stdout
    assert "x[100], past its end" in done.stdout
    assert "line 12: kernel((2,), (64,)" in done.stdout


def test_the_same_as_data(tmp_path: Path) -> None:
    done = run(tmp_path, PROGRAM.replace("CONDITION", "").replace("print", "pass #"), "--json")

    data = json.loads(done.stdout)
    assert data["error"].startswith("CUDADriverError")
    assert [item["kind"] for item in data["diagnostics"]] == ["out-of-bounds-read"]


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gpu_worker.run_kernel", str(tmp_path / "missing.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    assert done.returncode == 2
    assert "no file" in done.stderr
