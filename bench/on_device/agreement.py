"""Whether the CPU executor and the device make the same of the stored kernels."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bench.on_device.api import Device
from bench.on_device.budget import Budget
from bench.on_device.contenders import CLASSES, EPS
from bench.on_device.correctness import DTYPES
from bench.on_device.programs import Inputs, Program, Run, inputs, kept, play, programs, runs
from gpu_worker.judge.cases import dtypes
from gpu_worker.judge.cases.units import error_in_units, limit_in_units


def compare(
    device: Device,
    budget: Budget,
    recorded: Mapping[str, Any],
    chosen: Sequence[Program] | None = None,
    names: tuple[str, ...] = DTYPES,
) -> dict[str, Any]:
    """Run the programs on the device and compare with what the executor made, as recorded.

    `names` are the dtypes; a program that changed since then is left out, and said.
    """
    found: dict[str, Any] = {}
    for program in programs() if chosen is None else chosen:
        if budget.left() <= 0:
            budget.leave_out(f"agreement of {program.name}", "for want of time")
        elif str(recorded.get(f"sha256 {program.name}", "")) != program.sha256:
            budget.leave_out(
                f"agreement of {program.name}",
                "it changed since the executor's outputs were recorded; run "
                "python -m bench.executor_outputs",
            )
        else:
            found[program.name] = _compare(device, program, recorded, budget, names)
    return {
        "programs": found,
        "agree": bool(found) and all(not item["differences"] for item in found.values()),
    }


def _compare(
    device: Device,
    program: Program,
    recorded: Mapping[str, Any],
    budget: Budget,
    names: tuple[str, ...],
) -> dict[str, Any]:
    differences, results, identical, worst = [], 0, 0, 0.0
    cls = program.load()
    for run in runs(program, names):
        if budget.left() <= 0:
            budget.leave_out(f"agreement of {program.name}", f"from {run.key(program)} on")
            break
        given = inputs(program, run)
        try:
            made = play(cls, run, given, device.upload, device.download)
            device.synchronize()
        except Exception as error:  # noqa: BLE001  whatever a device raises is a finding
            differences.append(f"{run.key(program)}: {type(error).__name__}: {error}")
            continue
        scales = _scales(program, run, given)
        for quantity, values in made.items():
            other = recorded[f"{run.key(program)} {quantity}"]
            results += 1
            identical += bool(np.array_equal(values, other))
            share = _share(run, quantity, values, other, scales[quantity])
            worst = max(worst, share)
            if not share <= 1:
                differences.append(f"{run.key(program)} {quantity}: {share:.3g} times the limit")
    return {
        "results": results,
        "identical": identical,
        "worst_difference_as_share_of_limit": round(worst, 4),
        "differences": differences,
    }


def _share(run: Run, quantity: str, values: Any, other: Any, scale: Any) -> float:
    """Return the largest difference as a share of the error that is allowed."""
    dtype = dtypes.named(run.dtype)
    if values.shape != other.shape:
        return float("inf")
    summed = quantity not in ("y", "dx")
    limit = limit_in_units(dtype, run.dim, run.rows, summed_over_rows=summed)
    return float(error_in_units(values, other.astype(np.float64), scale, dtype).max()) / limit


def _scales(program: Program, run: Run, given: Inputs) -> dict[str, Any]:
    """Return the sizes of the terms that make each kept number."""
    module = importlib.import_module(f"gpu_worker.exercises.{program.exercise}.reference_numpy")
    layer = getattr(module, CLASSES[program.exercise])(run.dim, EPS)
    for name, value in given.parameters.items():
        setattr(layer, name, value.astype(np.float64))
    dout = given.dout.astype(np.float64)
    layer.forward(given.x.astype(np.float64))
    layer.backward(dout)
    smallest = float(dtypes.limits_of(dtypes.named(run.dtype)).smallest_normal)
    sizes = module.term_sizes(layer, dout, smallest)
    return {quantity: _kept_wide(value) for quantity, value in sizes.items()}


def _kept_wide(values: Any) -> Any:
    return kept(np.asarray(values, dtype=np.float64))
