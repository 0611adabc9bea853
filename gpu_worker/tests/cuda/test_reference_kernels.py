"""The fused references of the CuPy track, run in three orders of threads, compared with float64."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gpu_worker.cupy_cpu
from gpu_worker.cuda_cpu.toolchain import nvrtc
from gpu_worker.cupy_cpu import host
from gpu_worker.cupy_cpu.executor import Kernel, LaunchReport
from gpu_worker.cupy_cpu.executor.report import ORDERS
from gpu_worker.exercises import get
from gpu_worker.exercises.row_launch import C_TYPES, pack_size
from gpu_worker.judge.cases import families
from gpu_worker.judge.cases.dtypes import named
from gpu_worker.judge.cases.units import error_in_units, limit_in_units
from gpu_worker.tests.cuda.executor import Array, Executor, kernel

EXERCISES = ("rmsnorm", "layernorm")
DTYPES = ("float32", "float16", "bfloat16", "float64")
DIMS = (
    *(1, 2, 3, 7, 31, 32, 33, 100, 127, 129, 255, 257, 1000, 1023, 1025, 4097, 8193),
    *(2**power for power in range(6, 17)),
)
LONGER = {"float16": (2**17,), "float32": (70_001,)}
"""Where rows of 65,536 still fit into registers, one that does not; and one beyond, of odd length."""
FAMILIES = (
    *("normal", "uniform", "mean-three", "outlier", "zero-rows", "mixed-scales", "alternating"),
    *("small", "micro", "large", "huge"),
)
LAYOUTS = ("contiguous", "fortran", "strided", "reversed")
REGISTERS = Path(__file__).parents[3] / "bench" / "results" / "kernels_registers.json"


class Launches:
    """Runs every launch in all orders and keeps its report; nothing may be found in it."""

    def __init__(self) -> None:
        self.reports: list[LaunchReport] = []

    def __call__(self, which: Kernel, *args: Any, **options: Any) -> LaunchReport:
        options.pop("order", None)
        report = _LAUNCH(which, *args, **{**options, "orders": ORDERS})
        assert [str(item) for item in report.diagnostics] == []
        self.reports.append(report)
        return report


_LAUNCH = Kernel.launch


@pytest.fixture(scope="module", autouse=True)
def launches() -> Iterator[Launches]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cupy", gpu_worker.cupy_cpu)
        seen = Launches()
        patch.setattr(Kernel, "launch", lambda *args, **options: seen(*args, **options))
        yield seen


class Pair:
    """A fused layer and the reference in float64, with the same parameters."""

    def __init__(self, slug: str, dim: int, dtype: Any, rng: np.random.Generator, eps: float):
        exercise = get(slug)
        self.dtype, self.gradients = dtype, exercise.gradients
        self.fused = getattr(exercise.module("fused_cupy"), exercise.class_name)(dim, eps)
        numpy = exercise.module("reference_numpy")
        self.term_sizes = numpy.term_sizes
        self.exact = getattr(numpy, exercise.class_name)(dim, eps)
        bound = families.HALF_GAMMA if dtype.itemsize == 2 else np.inf
        for name in exercise.parameters:
            values = rng.standard_normal(dim).clip(-bound, bound).astype(dtype)
            setattr(self.fused, name, host.to_device(values))
            setattr(self.exact, name, values.astype(np.float64))

    def worst(self, x: Any, dout: Any) -> dict[str, float]:
        """Return the largest error of each result, as a share of what is allowed."""
        got = {"y": self.fused.forward(host.to_device(x))}
        got["dx"] = self.fused.backward(host.to_device(dout))
        got |= {name: getattr(self.fused, name) for name in self.gradients}
        expected = {"y": self.exact.forward(x.astype("f8"))}
        expected["dx"] = self.exact.backward(np.array(dout, dtype="f8"))
        expected |= {name: getattr(self.exact, name) for name in self.gradients}
        smallest = float(_finfo(self.dtype).smallest_normal)
        scales = self.term_sizes(self.exact, np.array(dout, dtype="f8"), smallest)
        rows = x.size // max(x.shape[-1], 1)
        return {
            name: self._share(host.to_host(got[name]), expected[name], scales[name], rows, name)
            for name in got
        }

    def _share(self, got: Any, expected: Any, scale: Any, rows: int, name: str) -> float:
        assert got.shape == expected.shape
        assert got.dtype == self.dtype
        if not got.size:
            return 0.0
        errors = error_in_units(got, expected, np.broadcast_to(scale, got.shape), self.dtype)
        limit = limit_in_units(
            self.dtype, got.shape[-1], rows, summed_over_rows=name in self.gradients
        )
        return float(errors.max()) / limit


def _finfo(dtype: Any) -> Any:
    return ml_dtypes.finfo(dtype)


def laid_out(values: Any, layout: str) -> Any:
    """Return equal values in another memory layout."""
    if layout == "fortran":
        return np.asfortranarray(values)
    if layout == "strided":
        wide = np.zeros((*values.shape[:-1], 2 * values.shape[-1]), values.dtype)
        wide[..., ::2] = values
        return wide[..., ::2]
    if layout == "reversed":
        return np.ascontiguousarray(values[..., ::-1])[..., ::-1]
    return values


def _dims(slug: str, dtype_name: str) -> list[int]:
    """Return lengths of rows that take every instance.

    The longest rows are run for RMSNorm in three dtypes; elsewhere the shortest that take the same
    instance stand for them, to save time.
    """
    if slug == "rmsnorm" and dtype_name != "float64":
        return [*DIMS, *LONGER.get(dtype_name, ())]
    return [dim // 2 + 64 if dim > 4097 and dim % 2 == 0 else dim for dim in DIMS]


@pytest.mark.parametrize("dtype_name", DTYPES)
@pytest.mark.parametrize("slug", EXERCISES)
def test_every_instance_is_correct_in_every_order(
    slug: str, dtype_name: str, launches: Launches
) -> None:
    dtype, rng = named(dtype_name), np.random.default_rng(list(f"{slug}{dtype_name}".encode()))
    launches.reports.clear()
    with np.errstate(all="ignore"):
        for turn, dim in enumerate(_dims(slug, dtype_name)):
            rows = (5, 9, 17)[turn % 3] if dim <= 300 else (1, 2, 3)[turn % 3] if dim < 4096 else 1
            shape = (rows, dim) if dim > 300 else ((rows, dim), (2, rows, dim), (dim,))[turn % 3]
            family = FAMILIES[turn % len(FAMILIES)]
            x = families.draw_x(family, rng, shape, dtype).astype(dtype)
            dout = rng.standard_normal(shape).astype(dtype)
            # Multiples of 64 use vectors, which need rows without gaps; others take any layout.
            layout = "contiguous" if dim % 64 == 0 else LAYOUTS[turn % 4]
            pair = Pair(slug, dim, dtype, rng, (1e-6, 1e-5, 1e-3)[turn % 3])

            shares = pair.worst(laid_out(x, layout), dout)

            assert max(shares.values()) <= 1.0, (shape, family, layout, shares)

    wanted = set(get(slug).module("launch").LAUNCHES.instances(dtype_name))
    assert wanted <= {report.kernel for report in launches.reports}


@pytest.mark.parametrize("slug", EXERCISES)
@pytest.mark.parametrize(
    ("shape", "layout"),
    [((0, 8), "contiguous"), ((2, 0, 4), "contiguous"), ((1000, 32), "contiguous"),
     ((132, 129), "fortran"), ((2, 3, 2, 16), "fortran"), ((2, 3, 2, 16), "strided"),
     ((3, 1), "reversed"), ((6,), "reversed")],
)  # fmt: skip
def test_batches_of_any_shape(slug: str, shape: tuple[int, ...], layout: str) -> None:
    rng = np.random.default_rng(3)
    dtype = np.dtype(np.float32)
    x, dout = (rng.standard_normal(shape).astype(dtype) for _ in range(2))
    broadcast = np.broadcast_to(dout[(0,) * (len(shape) - 1)] if dout.size else dout, shape)

    for gradient in (laid_out(dout, layout), broadcast):
        shares = Pair(slug, shape[-1], dtype, rng, 1e-5).worst(laid_out(x, layout), gradient)

        assert max(shares.values()) <= 1.0, shares


@pytest.mark.parametrize("slug", EXERCISES)
@pytest.mark.parametrize("dim", [64, 1000, 4096])
def test_a_row_that_is_not_finite_affects_no_other(slug: str, dim: int) -> None:
    rng = np.random.default_rng(7)
    clean = rng.standard_normal((6, dim)).astype(np.float32)
    spoilt = clean.copy()
    spoilt[1, dim // 2], spoilt[4, 0] = np.nan, np.inf
    layer = Pair(slug, dim, np.dtype("f4"), rng, 1e-5).fused

    results = []
    for x in (clean, spoilt):
        y = host.to_host(layer.forward(host.to_device(x))).copy()
        results.append((y, host.to_host(layer.backward(host.to_device(clean))).copy()))

    good = [0, 2, 3, 5]
    for before, after in zip(*results, strict=True):
        assert np.array_equal(before[good], after[good])
        assert not np.isfinite(after[1]).any()


@pytest.mark.parametrize("slug", EXERCISES)
@pytest.mark.parametrize(("rows", "dim"), [(600, 128), (300, 1024)])
def test_arrays_are_moved_once(slug: str, rows: int, dim: int, launches: Launches) -> None:
    rng = np.random.default_rng(1)
    x, dout = (host.to_device(rng.standard_normal((rows, dim)).astype("f4")) for _ in range(2))
    layer = Pair(slug, dim, np.dtype("f4"), rng, 1e-5).fused
    launches.reports.clear()

    layer.forward(x)
    layer.backward(dout)

    forward, backward, adding = (report.counters for report in launches.reports)
    size = rows * dim * 4
    moved = {a.label: (a.bytes_read, a.bytes_written) for a in forward.arrays}
    assert moved["x"] == (size, 0)
    assert moved["y"] == (0, size)
    moved = {a.label: (a.bytes_read, a.bytes_written) for a in backward.arrays}
    assert (moved["x"], moved["d"], moved["dx"]) == ((size, 0), (size, 0), (0, size))
    rules = get(slug).module("launch").LAUNCHES
    # gamma is read once per row, from the cache; all else is what the model says.
    parameters = len(get(slug).parameters)
    total = forward.global_bytes_read + forward.global_bytes_written
    assert (
        total - parameters * (rows - 1) * dim * 4
        == rules.least_bytes("float32", rows, dim)["forward"]
    )
    total = sum(c.global_bytes_read + c.global_bytes_written for c in (backward, adding))
    extra = 2 * rows * dim * 4 - dim * 4 + rows * (_warps(rows) - 1) * 4 * parameters
    assert total - extra == rules.least_bytes("float32", rows, dim)["backward"]
    for counters in (forward, backward, adding):
        for access in counters.accesses:
            if access.space == "global":
                # A value that one lane alone writes moves a sector all the same.
                assert access.sectors <= max(access.ideal_sectors, access.requests)


def _warps(rows: int) -> int:
    """Return how many warps share a row, each of which reads what forward kept of it."""
    return 1 if rows == 600 else 4


def test_the_vector_path_is_not_taken_for_misaligned_addresses() -> None:
    assert pack_size("float32", 64, (64,), (1,), 4096) == 4
    assert pack_size("float16", 64, (64,), (1,), 4096) == 8
    assert pack_size("float32", 64, (64,), (1,), 4096 + 4) == 1
    assert pack_size("float32", 65, (65,), (1,), 4096) == 1
    assert pack_size("float32", 64, (64, 66), (1, 1), 4096) == 1
    assert pack_size("float32", 64, (64,), (2,), 4096) == 1


@pytest.mark.parametrize("slug", EXERCISES)
def test_rows_beyond_two_to_the_31_elements(slug: str) -> None:
    """Runs the last blocks of a launch over arrays that are there in address space only."""
    exercise = get(slug)
    rules, executor = exercise.module("launch").LAUNCHES, Executor()
    dim, rows = 128, 2**24 + 7
    x, y = (_sparse(executor, rows, dim) for _ in range(2))
    rng = np.random.default_rng(2)
    x.host[-3:] = rng.standard_normal((3, dim))
    parameters = [executor.array(rng.standard_normal(dim), np.float16) for _ in exercise.parameters]
    kept = executor.memory.allocate(rows * 8, initialised=True)
    plan = rules.forward("float16", rows, dim, 8)
    sizes = (np.int64(rows), np.int32(dim), np.float32(1e-5))
    source = (exercise.folder / "kernels.cu").read_text(encoding="utf-8")
    args = (x, np.int64(dim), np.int64(1), *parameters, y, kept.address, *sizes)
    given = [value.pointer if isinstance(value, Array) else value for value in args]

    report = _LAUNCH(
        kernel(source, plan.kernel), plan.grid, plan.block, given, memory=executor.memory,
        blocks=(plan.grid[0] - 1, 1),
    )  # fmt: skip

    layer = getattr(exercise.module("reference_numpy"), exercise.class_name)(dim, 1e-5)
    for name, values in zip(exercise.parameters, parameters, strict=True):
        setattr(layer, name, values.host.astype("f8"))
    expected = layer.forward(x.host[-3:].astype("f8"))
    assert rows * dim > 2**31
    assert report.diagnostics == []
    np.testing.assert_allclose(y.host[-3:].astype("f8"), expected, rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("dim", [128, 4096, 16_392])
@pytest.mark.parametrize("slug", EXERCISES)
def test_backward_over_rows_beyond_32_bit_indices(slug: str, dim: int) -> None:
    """Five rows far apart, of a length for each kind of kernel; only the rows are in memory."""
    exercise = get(slug)
    rules, executor, rows, step = exercise.module("launch").LAUNCHES, Executor(), 5, 2**29
    rng = np.random.default_rng(4)
    x, d = (_sparse(executor, rows, step) for _ in range(2))
    x.host[:, :dim], d.host[:, :dim] = rng.standard_normal((2, rows, dim))
    gamma = executor.array(rng.standard_normal(dim), np.float16)
    layer = getattr(exercise.module("reference_numpy"), exercise.class_name)(dim, 1e-5)
    layer.gamma = gamma.host.astype("f8")
    wide = x.host[:, :dim].astype("f8")
    layer.forward(wide)
    mean = wide.mean(-1) if rules.kept == 2 else np.zeros(rows)
    rstd = ((wide - mean[:, None]) ** 2).mean(-1) + 1e-5
    kept = executor.array(np.column_stack([mean, rstd**-0.5])[:, -rules.kept :])
    dx, both = executor.empty((rows, dim), np.float16), (x, *_steps(step), d, *_steps(step))
    plan, banded = rules.backward("float16", rows, dim, 8), rules.columns("float16", rows, dim)
    of_long_rows = "long" in plan.kernel
    bands = banded.grid[1] if of_long_rows else plan.grid[0]
    parts = executor.empty((rules.parameters, bands, dim))

    own = () if of_long_rows else (parts,)
    _one(executor, exercise.folder, plan, (*both, gamma, kept, dx, *own), rows, dim)
    if of_long_rows:
        _one(executor, exercise.folder, banded, (*both, kept, parts), rows, dim)

    assert (rows - 1) * step >= 2**31
    expected = layer.backward(d.host[:, :dim].astype("f8"))
    np.testing.assert_allclose(dx.host.astype("f8"), expected, rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(parts.host[0].sum(0), layer.dgamma, rtol=1e-3, atol=1e-3)


def _steps(row: int) -> tuple[Any, Any]:
    return np.int64(row), np.int64(1)


def _one(executor: Executor, folder: Path, plan: Any, args: Any, rows: int, dim: int) -> None:
    """Launch one kernel; nothing may be found in it."""
    source = (folder / "kernels.cu").read_text(encoding="utf-8")
    given = [value.pointer if isinstance(value, Array) else value for value in args]
    report = _LAUNCH(
        kernel(source, plan.kernel), plan.grid, plan.block,
        [*given, np.int64(rows), np.int32(dim)], plan.shared_bytes, memory=executor.memory,
    )  # fmt: skip
    assert report.diagnostics == []


def _sparse(executor: Executor, rows: int, dim: int) -> Array:
    """Return an array whose pages no one has touched: they read as zero and take no memory."""
    return Array(executor.memory, (rows, dim), np.float16, untouched=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("slug", EXERCISES)
def test_all_instances_compile_in_one_module(slug: str, dtype: str) -> None:
    rules = get(slug).module("launch").LAUNCHES
    modules = {rules.together(dtype, name) for name in rules.instances(dtype)}

    assert sorted(name for names in modules for name in names) == sorted(rules.instances(dtype))
    assert len(modules) == 6


# --- on devices, by NVIDIA's compiler ---------------------------------------------------------------
@pytest.mark.parametrize("slug", EXERCISES)
def test_no_shipped_instance_spills_on_any_device(slug: str) -> None:
    recorded = json.loads(REGISTERS.read_text())["exercises"][slug]
    rules = get(slug).module("launch").LAUNCHES
    source = (get(slug).folder / "kernels.cu").read_bytes()

    assert recorded["sha256"] == hashlib.sha256(source).hexdigest(), (
        "kernels.cu has changed: run python -m bench kernels_registers"
    )
    shipped = {name for dtype in C_TYPES for name in rules.instances(dtype)}
    assert set(recorded["kernels"]) == shipped
    for name, needs in recorded["kernels"].items():
        assert set(needs) == set(nvrtc.ARCHITECTURES)
        for architecture, numbers in needs.items():
            assert numbers["spill_bytes"] == numbers["local_bytes"] == 0, (name, architecture)
            assert numbers["registers"] <= 65_536 // _block_threads(name), (name, architecture)


def _block_threads(name: str) -> int:
    words = name.partition("<")[2].rstrip(">").split(", ")
    if "block" in name or "long" in name:
        return int(words[2])
    return 256 if name.startswith(("columns", "add_parts")) else 128


@pytest.mark.parametrize("architecture", nvrtc.ARCHITECTURES)
@pytest.mark.parametrize("slug", EXERCISES)
def test_the_recorded_numbers_are_those_of_the_compiler(slug: str, architecture: str) -> None:
    recorded = json.loads(REGISTERS.read_text())["exercises"][slug]["kernels"]
    source = (get(slug).folder / "kernels.cu").read_text(encoding="utf-8")
    names = ("add_parts<__half>", "backward_block<float, 4, 512, 4>")

    measured = nvrtc.compile_for(source, architecture, (), names)

    assert measured == {name: recorded[name][architecture] for name in names}
