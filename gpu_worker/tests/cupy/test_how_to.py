"""The kernel in docs/how-to works as the page says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpu_worker.cupy_cpu as cp
from gpu_worker import run_kernel
from gpu_worker.cupy_cpu import host
from gpu_worker.exercises.rmsnorm import reference_numpy

PAGE = Path(__file__).resolve().parents[3] / "docs/how-to/write-a-cuda-kernel-without-a-gpu.md"


@pytest.fixture
def code(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(__import__("sys").modules, "cupy", cp)
    (found,) = re.findall(r'```python title="kernel"\n(.*?)```', PAGE.read_text("utf-8"), re.DOTALL)
    return str(found)


def run(code: str) -> tuple[Any, Any]:
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102  the page's own example
    draw = np.random.default_rng(5)
    x, gamma = (draw.standard_normal(s).astype(np.float32) for s in ((3, 100), (100,)))
    host.take_notes()
    got = names["rmsnorm"](cp.asarray(x), cp.asarray(gamma), 1e-5).get()
    wide = x.astype(np.float64)
    return got, wide / np.sqrt((wide * wide).mean(-1, keepdims=True) + 1e-5) * gamma


def test_the_kernel_is_right_and_nothing_is_found(code: str) -> None:
    got, expected = run(code)
    assert got == pytest.approx(expected, rel=1e-5)
    assert "diagnostics" not in host.take_notes()


def test_the_array_program_is_right_and_moves_what_the_page_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "cupy", cp)
    page = PAGE.read_text(encoding="utf-8")
    (program,) = re.findall(r'```python title="arrays"\n(.*?)```', page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(program, names)  # noqa: S102  the page's own example
    values = np.random.default_rng(6).standard_normal((2, 16, 1024)).astype(np.float32)
    x, dout = map(cp.asarray, values)
    layer, reference = names["RMSNormScratch"](1024), reference_numpy.RMSNormScratch(1024)

    host.take_notes()
    y = layer.forward(x)
    counts = host.take_notes()["counts"]

    read, written = (counts[f"bytes_{what}"] / x.nbytes for what in ("read", "written"))
    told = f"forward: {read + written:.1f} NDs moved ({read:.2f} read, {written:.2f} written)"
    assert told in " ".join(page.split())
    assert y.get() == pytest.approx(reference.forward(values[0]), abs=1e-5)
    assert layer.backward(dout).get() == pytest.approx(reference.backward(values[1]), abs=1e-5)
    assert layer.dgamma.get() == pytest.approx(reference.dgamma, abs=1e-4)


def test_the_program_prints_what_the_page_shows(
    code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = PAGE.read_text(encoding="utf-8")
    (call,) = re.findall(r'```python title="call"\n(.*?)```', page, re.DOTALL)
    (tmp_path / "my_kernel.py").write_text(f"{code}\n\n{call}", encoding="utf-8")

    assert run_kernel.main([str(tmp_path / "my_kernel.py")]) == 0

    printed = capsys.readouterr().out
    difference = re.match(r"largest difference: (\S+)\n", printed)
    assert difference is not None
    assert float(difference[1]) < 1e-5
    assert (
        f"```\nlargest difference: 4.2229309160646267e-07\n{printed[difference.end() :]}```" in page
    )
    assert "python -m gpu_worker.run_kernel my_kernel.py" in page


def test_without_the_barrier_the_page_shows_what_is_found_first(code: str) -> None:
    host.take_notes()
    run(code.replace("    __syncthreads();\n", ""))
    assert host.fault(None) == "missing-barrier"
    first, *others = host.take_notes()["diagnostics"]
    file_line = first["line"] + code[: code.index('r"""')].count("\n")
    shown = (
        f"error, {first['kind']} (line {first['line']} of {first['kernel']}, "
        f"line {file_line} of your file): {first['message']}"
    )
    assert shown in " ".join(PAGE.read_text(encoding="utf-8").split())
    assert {"uninitialised-shared", "order-dependent"} <= {item["kind"] for item in others}
    assert "__syncwarp()" not in str([first, *others])
