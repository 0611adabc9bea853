"""Every reference kernel against the trusted reference in float64, with the judge's tolerance."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

import numpy as np

from bench.on_device.api import Device
from bench.on_device.budget import Budget
from bench.on_device.contenders import CLASSES
from gpu_worker.exercises.row_launch import RowLaunches, pack_size
from gpu_worker.judge.cases import dtypes, families
from gpu_worker.judge.cases.units import error_in_units, limit_in_units

DTYPES: Final = ("float32", "bfloat16", "float16", "float64")
FAMILIES: Final = (*families.DRAWN, "subnormal", "bad-rows")
PARAMETERS: Final = ("random", "signs-zeros", "zeros")
EPS: Final = (1e-8, 1e-6, 1e-5, 1e-3, 1.0)
DIMS: Final = (
    *(4096, 4097, 1, 2, 3, 7, 31, 32, 33, 64, 100, 127, 128, 129, 255, 256, 512, 1000, 1023),
    *(1024, 1025, 2048, 5000, 8192, 16384, 16385, 32768, 32769, 65536, 131072),
)
FEW_ROWS: Final = 5
MANY_ROWS: Final = 1100
"""More than the persistent blocks of a backward pass take at a time."""
SHORT: Final = 129
_REPORTED: Final = 20


@dataclass(frozen=True, slots=True)
class Case:
    """One layer's forward and backward pass over x (rows, dim) of a family."""

    exercise: str
    module: str
    dtype: str
    family: str
    rows: int
    dim: int

    def __str__(self) -> str:
        where = f"{self.exercise} {self.module} {self.dtype} ({self.rows}, {self.dim})"
        return f"{where} {self.family}"


def launches_of(exercise: str) -> RowLaunches:
    """Return the rules by which an exercise's fused reference launches its kernels."""
    found: RowLaunches = importlib.import_module(f"gpu_worker.exercises.{exercise}.launch").LAUNCHES
    return found


def chosen_dims(launches: RowLaunches, dtype: str, dims: tuple[int, ...] = DIMS) -> list[int]:
    """Return dims that together reach every kernel that `dims` reach, plus the first ones."""
    seen: set[str] = set()
    chosen = []
    for dim in dims:
        names = kernels_of(launches, dtype, FEW_ROWS, dim)
        if not names <= seen:
            seen |= names
            chosen.append(dim)
    return chosen


def kernels_of(launches: RowLaunches, dtype: str, rows: int, dim: int) -> set[str]:
    """Return the name expressions that forward and backward launch for contiguous arrays."""
    pack = pack_size(dtype, dim, (dim,), (1,), 0)
    back = launches.backward(dtype, rows, dim, pack)
    plans = [launches.forward(dtype, rows, dim, pack), back, launches.add_parts(dtype, dim)]
    if "long" in back.kernel:
        plans.append(launches.columns(dtype, rows, dim))
    return {plan.kernel for plan in plans}


def all_cases(
    dtype_names: tuple[str, ...] = DTYPES,
    dims: tuple[int, ...] = DIMS,
    family_names: tuple[str, ...] = FAMILIES,
    exercises: tuple[str, ...] = tuple(CLASSES),
) -> Iterator[Case]:
    """Yield the cases, family by family: the first alone reaches every kernel."""
    for family in family_names:
        for exercise in exercises:
            launches = launches_of(exercise)
            for dtype in dtype_names:
                for dim in chosen_dims(launches, dtype, dims):
                    rows = MANY_ROWS if dim <= SHORT and family == "normal" else FEW_ROWS
                    yield Case(exercise, "fused_cupy", dtype, family, rows, dim)
                yield Case(exercise, "reference_cupy", dtype, family, FEW_ROWS, min(dims[0], 1000))


def check(
    device: Device, budget: Budget, seed: int, cases: Iterator[Case] | None = None
) -> dict[str, Any]:
    """Run the cases until the budget is spent; return counts, failures and the worst errors."""
    draw = np.random.default_rng(seed)
    done, failed, reached = 0, [], set[str]()
    worst: dict[str, float] = {}
    pending = list(all_cases() if cases is None else cases)
    for number, case in enumerate(pending):
        if budget.left() <= 0:
            rest = len(pending) - number
            budget.leave_out("correctness", f"{rest} of {len(pending)} cases, for want of time")
            break
        problems, shares = run_case(device, case, draw)
        done += 1
        failed += problems
        for quantity, share in shares.items():
            key = f"{case.exercise} {case.module} {case.dtype} {quantity}"
            worst[key] = max(worst.get(key, 0.0), share)
        if case.module == "fused_cupy":
            names = kernels_of(launches_of(case.exercise), case.dtype, case.rows, case.dim)
            reached |= {f"{case.exercise}: {name}" for name in names}
    return {
        "cases": done,
        "of": len(pending),
        "failed": len(failed),
        "failures": failed[:_REPORTED],
        "worst_error_as_share_of_limit": {key: round(worst[key], 4) for key in sorted(worst)},
        "kernels": sorted(reached),
    }


def run_case(
    device: Device, case: Case, draw: np.random.Generator
) -> tuple[list[str], dict[str, float]]:
    """Return what is wrong, in words, and the largest error of each result in limits."""
    dtype, shape = dtypes.named(case.dtype), (case.rows, case.dim)
    eps = float(draw.choice(EPS))
    x = families.draw_x(case.family, draw, shape, dtype).astype(dtype)
    dout = draw.standard_normal(shape).astype(dtype)
    parameters = {name: _parameter(draw, case, dtype) for name in _parameters(case.exercise)}
    reference = importlib.import_module(f"gpu_worker.exercises.{case.exercise}.reference_numpy")
    tested = importlib.import_module(f"gpu_worker.exercises.{case.exercise}.{case.module}")
    try:
        got = _results(tested, case, eps, parameters, x, dout, device.upload)
        got = {name: device.download(value) for name, value in got.items()}
        device.synchronize()
    except Exception as error:  # noqa: BLE001  whatever a device raises is a finding, not the end
        return [f"{case}: {type(error).__name__}: {error}"], {}
    with np.errstate(all="ignore"):
        wide = {name: value.astype(np.float64) for name, value in parameters.items()}
        exact, scales = _expected(reference, case, eps, wide, x, dout)
    good = np.isfinite(x.astype(np.float64)).all(axis=-1)
    problems, shares = [], {}
    for quantity, value in got.items():
        share = _share(case, quantity, value, exact[quantity], scales[quantity], good, dtype)
        if share is None:
            continue
        shares[quantity] = share
        if not share <= 1:
            problems.append(f"{case}: {quantity} is off by {share:.3g} times the limit")
    return problems, shares


def _results(
    module: ModuleType, case: Case, eps: float, parameters: dict[str, Any], x: Any, dout: Any,
    place: Any,
) -> dict[str, Any]:  # fmt: skip
    layer = getattr(module, CLASSES[case.exercise])(case.dim, eps)
    for name, value in parameters.items():
        setattr(layer, name, place(value))
    results = {"y": layer.forward(place(x)), "dx": layer.backward(place(dout))}
    return results | {f"d{name}": getattr(layer, f"d{name}") for name in parameters}


def _expected(
    module: ModuleType, case: Case, eps: float, parameters: dict[str, Any], x: Any, dout: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the exact results in float64, and the sizes of the terms that make them."""
    layer = getattr(module, CLASSES[case.exercise])(case.dim, eps)
    for name, value in parameters.items():
        setattr(layer, name, value)
    wide = dout.astype(np.float64)
    results = {"y": layer.forward(x.astype(np.float64)), "dx": layer.backward(wide)}
    results |= {f"d{name}": getattr(layer, f"d{name}") for name in parameters}
    smallest = float(dtypes.limits_of(dtypes.named(case.dtype)).smallest_normal)
    return results, module.term_sizes(layer, wide, smallest)


def _share(
    case: Case, quantity: str, got: Any, exact: Any, scale: Any, good: Any, dtype: Any
) -> float | None:
    """Return the largest error as a share of what is allowed; None where nothing is compared."""
    by_rows = quantity in ("y", "dx")
    if got.shape != exact.shape or got.dtype != dtype:
        return float("inf")
    if not good.all():
        # Bad rows spoil sums over rows, and must spoil nothing else.
        if not by_rows:
            return None
        got, exact, scale = got[good], exact[good], scale[good]
    limit = limit_in_units(dtype, case.dim, case.rows, summed_over_rows=not by_rows)
    return float(error_in_units(got, exact, scale, dtype).max()) / limit


def _parameters(exercise: str) -> tuple[str, ...]:
    return ("gamma", "beta") if exercise == "layernorm" else ("gamma",)


def _parameter(draw: np.random.Generator, case: Case, dtype: Any) -> Any:
    bound = families.HALF_GAMMA if dtypes.is_half(dtype) else np.inf
    kind = str(draw.choice(PARAMETERS))
    return families.draw_parameter(kind, draw, case.dim).clip(-bound, bound).astype(dtype)
