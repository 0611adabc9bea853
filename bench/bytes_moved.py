"""Bytes that RMSNorm and LayerNorm move, written in several ways, as the executor counts them.

The tables of the chapter "Make It Fast" are written from these counts, which hold on any machine:
nothing is timed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from gpu_worker.exercises import get
from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.kernels.counting import counts_of
from gpu_worker.sandbox.client import Zygote

_PROGRAMS: Final = Path(__file__).with_name("programs")
_TWO, _FORWARD, _BACKWARD = "rmsnorm_two_kernels", "rmsnorm_fused_forward", "rmsnorm_fused_backward"


@dataclass(frozen=True, slots=True)
class Program:
    """One program: the exercise that it is counted for, its text, and the call that is counted."""

    exercise: str
    path: Path
    direction: str = "forward"


def _of(slug: str, name: str, direction: str = "forward") -> Program:
    return Program(slug, get(slug).folder / name, direction)


def _layernorm(name: str) -> Program:
    return Program("layernorm", _PROGRAMS / f"layernorm_{name}.py")


PROGRAMS: Final[Mapping[str, Program]] = {
    "forward: array expressions": _of(_TWO, "starter_cupy.py"),
    "forward: two kernels": _of(_TWO, "reference_cupy.py"),
    "forward: one kernel, x read twice": _of(_FORWARD, "starter_cupy.py"),
    "forward: one kernel, row in registers": _of(_FORWARD, "reference_cupy.py"),
    "forward: the same, 16 bytes at a time": _of(
        _FORWARD, "submissions/cupy/correct/packs_of_four.py"
    ),
    "backward: array expressions": _of(_BACKWARD, "starter_cupy.py", "backward"),
    "backward: fused, a part of dgamma for each row": _of(
        _BACKWARD, "submissions/cupy/wrong/part_for_each_row.py", "backward"
    ),
    "backward: fused, a part for each block of rows": _of(
        _BACKWARD, "reference_cupy.py", "backward"
    ),
    "LayerNorm: array expressions": _layernorm("array_expressions"),
    "LayerNorm: a kernel for each reduction": _layernorm("three_kernels"),
    "LayerNorm: one kernel, x read for each reduction": _layernorm("three_reads"),
    "LayerNorm: one kernel, both statistics in one sweep": _layernorm("one_sweep"),
    "LayerNorm: one kernel, row in registers": _layernorm("row_in_registers"),
}


def measure(folder: Path) -> dict[str, Any]:
    """Count every program once; `times` is the multiple of the bytes of x."""
    with Zygote() as zygote:
        rows = {name: count(program, zygote) for name, program in PROGRAMS.items()}
    return {"unit": "bytes of one call, float32", "rows": rows}


def count(program: Program, zygote: Zygote) -> dict[str, Any]:
    """Return what one call of a program moves.

    Raises:
        ValueError: a result of the program is wrong.
    """
    counted = counts_of(_exercise(program), program.path.read_text(encoding="utf-8"), zygote)
    if counted is None:
        raise ValueError(f"{program.path.name} is wrong, so its counts say nothing.")
    (call,) = (row for row in counted.rows if row.direction == program.direction)
    rows, dim = counted.shape
    moved = call.bytes_read + call.bytes_written
    return {
        "shape": [rows, dim],
        "launches": call.launches,
        "read": call.bytes_read,
        "written": call.bytes_written,
        "times": round(moved / (4 * rows * dim), 4),
    }


def _exercise(program: Program) -> Exercise:
    exercise = get(program.exercise)
    return replace(exercise, directions=("forward",)) if exercise.slug == "layernorm" else exercise
