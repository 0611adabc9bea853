"""Times one cell after the other, as long as there is time."""

from __future__ import annotations

import contextlib
import gc
import importlib
import random
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from bench.on_device import inputs, timing
from bench.on_device.api import Device
from bench.on_device.budget import Budget
from bench.on_device.contenders import CLASSES, EPS, Kind, copy_of_least_bytes, installed
from bench.on_device.plan import Cell
from bench.on_device.timing import COPY, Contender, Rules
from gpu_worker.judge.cases import dtypes
from gpu_worker.judge.cases.units import error_in_units, limit_in_units

SETS: Final = 3
WRONG: Final = 10.0
"""An error of so many limits is not one of rounding. Smaller ones are timed, and said."""
_REMEMBERED: Final = 6
_FIRST_CELL_SECONDS: Final = 1.0
_FIRST_DEAR_SECONDS: Final = 20.0
_ROOM: Final = 1.25
"""A cell may take this much longer than the longest of the last ones."""


class Pace:
    """What cells have taken, and so what may still be begun."""

    def __init__(self, budget: Budget, cells: int) -> None:
        self._budget = budget
        self._cells_left = cells
        self._plain: deque[float] = deque([_FIRST_CELL_SECONDS], _REMEMBERED)
        self._dear = _FIRST_DEAR_SECONDS

    def allows_cell(self) -> bool:
        return self._budget.left() > _ROOM * max(self._plain)

    def allows_dear(self) -> bool:
        """True if all cells that are left still fit after one that includes what is dear."""
        # The median: the first cell also pays for what is imported with it.
        usual = statistics.median(self._plain)
        return self._budget.left() > _ROOM * (self._dear + usual * self._cells_left)

    def took(self, seconds: float, dear_seconds: float) -> None:
        self._cells_left -= 1
        self._plain.append(seconds - dear_seconds)
        if dear_seconds:
            self._dear = dear_seconds


def time_cells(
    device: Device,
    budget: Budget,
    cells: Iterable[Cell],
    kinds: Sequence[Kind],
    rules: Rules,
    seed: int,
    on_dim: Callable[[list[dict[str, Any]]], None] = lambda found: None,
) -> list[dict[str, Any]]:
    """Return what was measured, cell by cell; what does not fit is left out, and said.

    `on_dim` is called with what there is when the cells of one length of a row are done.
    """
    pending, draw = list(cells), random.Random(seed)
    here = [kind for kind in kinds if installed(kind)]
    for kind in kinds:
        if kind not in here:
            budget.leave_out(kind.name, f"{kind.needs} is not installed")
    pace, found = Pace(budget, len(pending)), list[dict[str, Any]]()
    for number, cell in enumerate(pending):
        if not pace.allows_cell():
            for rest in pending[number:]:
                budget.leave_out(f"times of {rest}", "for want of time")
            break
        if number and pending[number - 1].dim != cell.dim:
            on_dim(found)
        dear = pace.allows_dear()
        chosen = [kind for kind in here if dear or not kind.dear]
        for kind in here:
            if kind not in chosen:
                budget.leave_out(f"{kind.name} of {cell}", "for want of time")
        begun = time.monotonic()
        measured, dear_seconds = _time_cell(device, cell, chosen, rules, draw)
        pace.took(time.monotonic() - begun, dear_seconds)
        if number == 0 or pending[number - 1].dim != cell.dim:
            measured["readings"] = device.readings()
        found.append(measured)
    return found


def _time_cell(
    device: Device, cell: Cell, kinds: Sequence[Kind], rules: Rules, draw: random.Random
) -> tuple[dict[str, Any], float]:
    """Return one cell's measurements, and the seconds that dear contenders took to prepare."""
    result: dict[str, Any] = {**asdict(cell), "least_bytes": cell.least_bytes}
    result |= {"failed": {}, "inexact": {}}
    dear_seconds = 0.0
    sets: list[inputs.InputSet] = []
    contenders: list[Contender] = []
    try:
        sets += inputs.make_sets(device, cell, SETS, draw.getrandbits(31))
        contenders += [copy_of_least_bytes(device, cell, sets)]
        for kind in kinds:
            begun = time.monotonic()
            contender, problem, share = _prepare(device, cell, kind, sets)
            if contender:
                contenders.append(contender)
            else:
                result["failed"][kind.name] = problem
            if contender and share > 1:
                result["inexact"][kind.name] = round(share, 2)
            dear_seconds += (time.monotonic() - begun) * kind.dear

        def refresh(number: int) -> None:
            given = sets[number]
            array = given.x if cell.direction == "forward" else given.dout
            inputs.refill(device, array, draw.getrandbits(31))

        times = timing.measure(device, contenders, refresh, rules, draw)
    except Exception as error:  # noqa: BLE001  one cell's failure, for example of memory
        result["failed"]["all"] = f"{type(error).__name__}: {error}"[:500]
        times = {}
    finally:
        sets.clear()
        contenders.clear()
        gc.collect()
        # A device in an error state frees nothing, and has been heard of above.
        with contextlib.suppress(RuntimeError):
            device.free()
    result["times"] = {name: _rounded(measured) for name, measured in times.items()}
    if COPY in times:
        rate = cell.least_bytes / times[COPY].ms / 1e6
        result["copy_gigabytes_per_second"] = round(rate, 1)
    return result, dear_seconds


def _rounded(measured: timing.Measured) -> dict[str, Any]:
    return {
        key: round(value, 5) if isinstance(value, float) else value
        for key, value in asdict(measured).items()
    }


def _prepare(
    device: Device, cell: Cell, kind: Kind, sets: Sequence[inputs.InputSet]
) -> tuple[Contender | None, str, float]:
    """Return the contender, or None and what is wrong; and its error as a share of the limit."""
    try:
        calls = kind.make(device, cell, sets)
        result = calls[0]()
        device.synchronize()
        share = _error(device, cell, sets[0], result)
    except Exception as error:  # noqa: BLE001  another library's failure is a result, not the end
        return None, f"{type(error).__name__}: {error}"[:500], 0.0
    if not share <= WRONG:
        problem = f"its result is off by {share:.3g} times the limit, so it is not timed"
        return None, problem, share
    return Contender(kind.name, calls), "", share


def _error(device: Device, cell: Cell, given: inputs.InputSet, result: Any) -> float:
    """Return the error in the first, the middle and the last row, as a share of the limit."""
    rows = [0, cell.rows // 2, cell.rows - 1]
    dtype = dtypes.named(cell.dtype)
    x, dout, got = (
        np.stack([_row(device, array, row, dtype) for row in rows])
        for array in (given.x, given.dout, result)
    )
    module = importlib.import_module(f"gpu_worker.exercises.{cell.exercise}.reference_numpy")
    layer = getattr(module, CLASSES[cell.exercise])(cell.dim, EPS)
    for name in ("gamma", "beta") if cell.exercise == "layernorm" else ("gamma",):
        setattr(layer, name, device.download(getattr(given, name)).astype(np.float64))
    exact = {"y": layer.forward(x.astype(np.float64))}
    exact["dx"] = layer.backward(dout.astype(np.float64))
    smallest = float(dtypes.limits_of(dtype).smallest_normal)
    scales = module.term_sizes(layer, dout.astype(np.float64), smallest)
    quantity = "y" if cell.direction == "forward" else "dx"
    limit = limit_in_units(dtype, cell.dim, len(rows), summed_over_rows=False)
    errors = error_in_units(got, exact[quantity], scales[quantity], dtype)
    return float(errors.max()) / limit


def _row(device: Device, array: Any, row: int, dtype: Any) -> Any:
    """Return a row of a CuPy array or of a tensor as a NumPy array."""
    if hasattr(array, "detach"):
        # A tensor: widened first, since not every version hands bfloat16 to NumPy.
        return array.detach()[row].float().cpu().numpy().astype(dtype)
    return device.download(array[row])
