"""Kernels compiled ahead: made once, by a child of the worker, and copied into each run."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

from bench.executor_outputs import use_executor
from gpu_worker.exercises import get
from gpu_worker.gpu import examination, warming
from gpu_worker.gpu.sandbox.zygote import DeviceZygote
from gpu_worker.gpu.warming import folder_for, run_references, warm, warmed
from gpu_worker.messages.protocol import Track
from gpu_worker.sandbox.inside.device.library import MOST_KERNELS, take_kernels
from gpu_worker.sandbox.inside.wire import Job, encode_job
from gpu_worker.sandbox.run import Request
from gpu_worker.tests.gpu.stand_in import FACTS, GPU, stand_in_profile

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(warming.FOLDER, str(tmp_path / "kernels"))
    return tmp_path


def write_cupy(place: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Put a module in CuPy's place; the child runs no more than that."""
    (place / "cupy.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", f"{place}:{ROOT}")
    assert "PYTHONPATH" in examination._KEPT


def test_kernels_that_failed_to_compile_are_not_marked_done(
    place: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write_cupy(place, monkeypatch, "raise ImportError('CuPy is not installed')\n")
    warm(GPU, FACTS)
    assert warmed(FACTS) == ""
    assert "CuPy is not installed" in caplog.text


def test_compiled_kernels_serve_all_devices_of_a_model(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []

    def run(words: list[str], env: dict[str, str], **_: object) -> object:
        started.append(words)
        folder = Path(env["CUPY_CACHE_DIR"])
        (folder / "a.cubin").write_bytes(b"made")
        (folder / "a.cubin").chmod(0o600)
        assert "CUPY_CACHE_IN_MEMORY" not in env
        return dataclasses.make_dataclass("Done", ["returncode"])(0)

    monkeypatch.setattr(warming.subprocess, "run", run)
    for _ in range(2):
        warm(GPU, FACTS)
    assert started == [[sys.executable, "-m", "gpu_worker.gpu.warming"]]
    assert warmed(FACTS) == str(folder_for(FACTS))
    assert (folder_for(FACTS) / "a.cubin").stat().st_mode & 0o777 == 0o644
    assert warmed(FACTS.model_copy(update={"cupy": "15"})) == ""


def test_the_references_run_in_all_dtypes_and_layouts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "SHAPES", ((3, 33),))
    # One of the track is enough; the other has no CuPy and is left alone.
    chosen = ("rmsnorm", "softmax_cross_entropy")
    monkeypatch.setattr(warming, "slugs", lambda: chosen)
    exercises = [get(slug) for slug in chosen if Track.CUPY in get(slug).tracks]
    assert [one.slug for one in exercises] == ["rmsnorm"]
    fused = [len(one.directions) for one in exercises if (one.folder / "fused_cupy.py").is_file()]
    plain = [
        2 * len(one.directions)
        for one in exercises
        for dtype in warming.DTYPES
        if one.has_kernels_for(dtype)
    ]
    assert run_references(use_executor()) == sum(fused) + sum(plain)


def test_a_run_finds_a_copy_and_cannot_change_the_kernels_of_the_next(tmp_path: Path) -> None:
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "a.cubin").write_bytes(b"made ahead")
    (kernels / "a.cubin").chmod(0o644)
    tmp_path.chmod(0o755)
    profile = dataclasses.replace(stand_in_profile(tmp_path / "root"), kernels=str(kernels))
    program = """
import os
print(os.listdir("."), open("a.cubin").read(), os.listdir("/learnml/kernels"))
open("a.cubin", "w").write("poison")
kernel = "/learnml/kernels/a.cubin"
for attempt in (lambda: open(kernel, "w"), lambda: os.unlink(kernel)):
    try: attempt()
    except OSError: print("refused")
"""
    request = Request(
        job=encode_job(Job(program, "", (), library="device")),
        wall_seconds=10,
        cpu_seconds=10,
        memory_bytes=256 << 20,
        file_bytes=1 << 20,
        output_bytes=1 << 16,
        result_bytes=1 << 16,
    )
    with DeviceZygote(profile) as zygote:
        for _ in range(2):
            words = zygote.run(request).output.decode().splitlines()
            assert words == ["['a.cubin'] made ahead ['a.cubin']", "refused", "refused"]
    assert (kernels / "a.cubin").read_bytes() == b"made ahead"


def test_no_more_kernels_are_copied_than_the_runs_folder_holds(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    for number in range(MOST_KERNELS + 3):
        (source / f"{number}.cubin").touch()
    assert take_kernels(str(source), str(target)) == MOST_KERNELS
    assert len(list(target.iterdir())) == MOST_KERNELS
    assert take_kernels(str(tmp_path / "none"), str(target)) == 0
