"""The stored programs of the CuPy track with kernels of their own, and how each is run.

The same inputs come out of a program's name and case on every machine, so that what the CPU
executor made of them can be kept in a file and compared with a device that has no compiler for it.
"""

from __future__ import annotations

import hashlib
import importlib
import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import gpu_worker
from bench.on_device import correctness
from bench.on_device.contenders import CLASSES, EPS
from gpu_worker.judge.cases import dtypes

OUTPUTS: Final = Path(__file__).with_name("executor_outputs.npz")
EXERCISES: Final = Path(gpu_worker.__file__).resolve().parent / "exercises"
KEPT: Final = 256
"""How many numbers of a result are kept: from its beginning to its end in even steps."""
SHAPES: Final = ((5, 33), (3, 256), (2, 1025))
FUSED_ROWS: Final = 3
FUSED_DIMS: Final = tuple(dim for dim in correctness.DIMS if dim <= 16385)
_FUSED_IN_ONE_FILE: Final = "reference_kernels.py"
_LAUNCHES: Final = ("RawKernel", "RawModule", "ElementwiseKernel", "ReductionKernel")


@dataclass(frozen=True, slots=True)
class Program:
    """A file that defines an exercise's class, with the digest of all that it is made of."""

    exercise: str
    path: Path

    @property
    def name(self) -> str:
        return f"{self.exercise}/{self.path.stem}"

    @property
    def is_fused(self) -> bool:
        return self.path.stem == "fused_cupy"

    @property
    def sha256(self) -> str:
        """The digest of the program, and of the kernels and launch rules that it takes."""
        digest = hashlib.sha256(self.path.read_bytes())
        if self.is_fused:
            for name in ("kernels.cu", "launch.py", "../row_launch.py", "../cupy_rows.py"):
                digest.update((self.path.parent / name).read_bytes())
        return digest.hexdigest()

    def load(self) -> Any:
        """Return the class, with the module `cupy` that is in place now."""
        if self.is_fused:
            module = importlib.import_module(f"gpu_worker.exercises.{self.exercise}.fused_cupy")
            return getattr(module, CLASSES[self.exercise])
        names: dict[str, Any] = {"__name__": self.path.stem}
        code = compile(self.path.read_text(encoding="utf-8"), str(self.path), "exec")
        exec(code, names)  # noqa: S102  a file of this repository
        return names[CLASSES[self.exercise]]


def programs() -> list[Program]:
    """Return the right programs that launch kernels of their own, and the fused references.

    Those stand for the files that are made of them, too. Wrong programs are left out: many rely on
    what CUDA does not define, or stop a device.
    """
    found = []
    for exercise in CLASSES:
        folder = EXERCISES / exercise
        stored = sorted((folder / "submissions" / "cupy" / "correct").glob("*.py"))
        found += [
            Program(exercise, path)
            for path in stored
            if path.name != _FUSED_IN_ONE_FILE
            and any(word in path.read_text(encoding="utf-8") for word in _LAUNCHES)
        ]
        found.append(Program(exercise, folder / "fused_cupy.py"))
    return found


@dataclass(frozen=True, slots=True)
class Run:
    """One pass of a program over x (rows, dim)."""

    dtype: str
    rows: int
    dim: int

    def key(self, program: Program) -> str:
        return f"{program.name} {self.dtype} {self.rows} {self.dim}"


def runs(program: Program, names: tuple[str, ...] = correctness.DTYPES) -> Iterator[Run]:
    """Yield the passes of a program in these dtypes; a fused reference's reach its kernels."""
    for dtype in names:
        if program.is_fused:
            launches = correctness.launches_of(program.exercise)
            for dim in correctness.chosen_dims(launches, dtype, FUSED_DIMS):
                yield Run(dtype, FUSED_ROWS, dim)
        else:
            for rows, dim in SHAPES:
                yield Run(dtype, rows, dim)


@dataclass(frozen=True, slots=True)
class Inputs:
    """x and dout (rows, dim), and the parameters (dim,) by name."""

    x: NDArray[Any]
    dout: NDArray[Any]
    parameters: dict[str, NDArray[Any]]


def inputs(program: Program, run: Run) -> Inputs:
    """Return the inputs of a pass: the same for the same program and case everywhere."""
    draw = np.random.default_rng(zlib.crc32(run.key(program).encode()))
    dtype, shape = dtypes.named(run.dtype), (run.rows, run.dim)
    names = ("gamma", "beta") if program.exercise == "layernorm" else ("gamma",)
    return Inputs(
        x=draw.standard_normal(shape).astype(dtype),
        dout=draw.standard_normal(shape).astype(dtype),
        parameters={name: draw.uniform(-1.5, 1.5, run.dim).astype(dtype) for name in names},
    )


def play(cls: Any, run: Run, given: Inputs, place: Any, fetch: Any) -> dict[str, NDArray[Any]]:
    """Return the kept numbers of each result; `place` and `fetch` bring arrays there and back."""
    layer = cls(run.dim, EPS)
    for name, value in given.parameters.items():
        setattr(layer, name, place(value))
    results = {"y": layer.forward(place(given.x)), "dx": layer.backward(place(given.dout))}
    results |= {f"d{name}": getattr(layer, f"d{name}") for name in given.parameters}
    return {quantity: kept(fetch(value)) for quantity, value in results.items()}


def kept(values: NDArray[Any]) -> NDArray[Any]:
    """Return at most `KEPT` numbers of a result: float64 as it is, all else as float32."""
    flat = values.reshape(-1)
    step = max(1, math.ceil(flat.size / KEPT))
    # An odd step meets every column of a row in time, and every lane of a warp.
    chosen = flat[:: step + 1 - step % 2]
    return chosen if chosen.dtype == np.float64 else chosen.astype(np.float32)
