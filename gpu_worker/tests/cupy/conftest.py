"""Grading on the CuPy track; the zygote is the one of all tests of the engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_worker.exercises import get
from gpu_worker.judge import Graded, Options, grade_source
from gpu_worker.judge.diagnosis.search_time import UNHURRIED
from gpu_worker.messages.protocol import Track
from gpu_worker.sandbox.client import Zygote

GradeCupy = Callable[..., Graded]


@pytest.fixture
def grade_cupy(zygote: Zygote) -> GradeCupy:
    """Grade a source of the CuPy track for RMSNorm, or for the exercise given."""

    def run(source: str, slug: str = "rmsnorm", **options: object) -> Graded:
        options.setdefault("search_seconds", UNHURRIED)
        return grade_source(slug, Track.CUPY, source, Options(**options), zygote=zygote)  # type: ignore[arg-type]

    return run


def submission(name: str, kind: str = "correct", slug: str = "rmsnorm") -> str:
    """Return the text of a stored submission of the track."""
    folder: Path = get(slug).folder / "submissions" / "cupy" / kind
    return (folder / f"{name}.py").read_text(encoding="utf-8")


@pytest.fixture
def right_arrays() -> str:
    """A right RMSNorm of array expressions, to be changed by a test."""
    return submission("array_expressions")


@pytest.fixture
def right_kernel() -> str:
    """A right RMSNorm of CUDA kernels, to be changed by a test."""
    return submission("raw_block_per_row")
