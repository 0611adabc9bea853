"""The judge's own process on a device: draws inputs, times a copy and the reference, compares.

`python -m gpu_worker.gpu.referee DESCRIPTOR` takes one line of JSON on its input, an `Errand`, and
then one command in each line; it answers each with one line. DESCRIPTOR is the job's memory, shared
with the runner. Results in it are a stranger's bytes: they are copied to the device in pieces and
compared with float64 results from the inputs that this process kept for itself.

All arrays belong to a module `xp`: CuPy on a device. Exits with 1 and a reason on standard error if
the device fails.
"""

from __future__ import annotations

import importlib
import json
import math
import mmap
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final, Protocol

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from gpu_worker.exercises import get
from gpu_worker.judge.cases import dtypes
from gpu_worker.judge.cases.units import limit_in_units
from gpu_worker.sandbox.inside.layers import process

PIECE_ELEMENTS: Final = 1 << 22
"""Compared at a time: in float64, with what comes of it, some hundred megabytes."""
SPREAD: Final = 2.0
"""Inputs lie between minus and plus this."""


class Placed(BaseModel):
    """A result's name and where it lies in the memory."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    quantity: str
    place: Annotated[int, Field(ge=0)]


class Errand(BaseModel):
    """What a referee is there for. `modulus` names the module of the exercise that is timed.

    `expected` names the one that gives exact results, with `xp`'s arrays. `inputs` are the places
    in memory of x and dout by direction; `seed` is for this process alone.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    exercise: str
    modulus: str
    expected: str
    dtype: str
    rows: int
    dim: int
    eps: float
    parameters: dict[str, list[float]]
    inputs: dict[str, int]
    results: list[Placed]
    seed: int


class Worst(BaseModel):
    """The worst element of a result; `units` is None where it is not finite."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    quantity: str
    index: list[int]
    expected: float
    got: str
    units: float | None
    limit: float


class Device(Protocol):
    """The small part of a device that a referee uses."""

    xp: Any

    def synchronize(self) -> None:
        """Wait for all work."""

    def copy(self, target: Any, source: Any) -> None:
        """Copy an array over another, by the driver."""

    def clear_caches(self) -> None:
        """Take persisting lines back, and fill the second-level cache with other data."""

    def download(self, array: Any, out: Any) -> None:
        """Copy an array into a contiguous NumPy array."""


class Referee:
    """One errand on one device."""

    def __init__(
        self,
        device: Device,
        memory: Any,
        errand: Errand,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._device = device
        self._memory = memory
        self._errand = errand
        self._clock = clock
        self._exercise = get(errand.exercise)
        self._dtype = dtypes.named(errand.dtype)
        self._shape = (errand.rows, errand.dim)
        self._draw = device.xp.random.default_rng(errand.seed)
        self._kept: dict[str, Any] = {}
        self._best: Any = None

    def draw(self, direction: str) -> None:
        """Draw the direction's next input: for the runner into the memory, and for this process."""
        xp, errand = self._device.xp, self._errand
        room = self._in_memory(errand.inputs[direction])
        kept = self._kept.get(direction)
        if kept is None:
            kept = self._kept[direction] = xp.empty(self._shape, self._dtype)
        for piece in self._pieces():
            values = self._draw.random(kept[piece].shape, dtype=xp.float32)
            kept[piece] = ((values - 0.5) * (2 * SPREAD)).astype(self._dtype)
            self._device.download(kept[piece], room[piece])
        self._device.synchronize()

    def flush(self) -> None:
        """Leave nothing of use in the device's caches."""
        self._device.clear_caches()
        self._device.synchronize()

    def own(self, direction: str) -> dict[str, float]:
        """Return the seconds of a copy of the direction's input, and of the reference's call."""
        given = self._kept[direction]
        copy = self._copied(given)
        best = self._reference()
        return {"copy": copy, "reference": self._timed(lambda: getattr(best, direction)(given))}

    def _copied(self, given: Any) -> float:
        target = self._device.xp.empty_like(given)
        return self._timed(lambda: self._device.copy(target, given))

    def check(self) -> list[Worst]:
        """Compare the results in the memory; return the worst element of each.

        Sums over rows come last, since they need all of them.
        """
        found: dict[str, Worst] = {}
        sums: dict[str, tuple[Any, Any]] = {}
        placed = {result.quantity: result.place for result in self._errand.results}
        for piece in self._pieces():
            exact, sizes = self._exactly(piece)
            for quantity in placed:
                if quantity in ("y", "dx"):
                    got = self._device.xp.asarray(self._in_memory(placed[quantity])[piece])
                    worst = self._worst(quantity, got, exact[quantity], sizes[quantity])
                    row = worst.index[0] + piece.start
                    worst = worst.model_copy(update={"index": [row, *worst.index[1:]]})
                    found[quantity] = _worse(found.get(quantity), worst)
                else:
                    value, size = sums.get(quantity, (0.0, 0.0))
                    sums[quantity] = (value + exact[quantity], size + sizes[quantity])
        for quantity, (value, size) in sums.items():
            room = np.frombuffer(self._memory, self._dtype, self._errand.dim, placed[quantity])
            found[quantity] = self._worst(quantity, self._device.xp.asarray(room), value, size)
        return [found[quantity] for quantity in placed]

    # --- steps --------------------------------------------------------------------------------
    def _pieces(self) -> Iterator[slice]:
        step = max(1, PIECE_ELEMENTS // self._errand.dim)
        for start in range(0, self._errand.rows, step):
            yield slice(start, min(start + step, self._errand.rows))

    def _in_memory(self, place: int) -> Any:
        count = math.prod(self._shape)
        return np.frombuffer(self._memory, self._dtype, count, place).reshape(self._shape)

    def _timed(self, work: Callable[[], object]) -> float:
        self.flush()
        begun = self._clock()
        work()
        self._device.synchronize()
        return self._clock() - begun

    def _reference(self) -> Any:
        if self._best is None:
            self._best = self._layer(self._errand.modulus, self._dtype)
            # Everything is compiled and allocated before anything is timed.
            few = {name: values[:8] for name, values in self._kept.items()}
            self._best.forward(few["forward"])
            if "backward" in few:
                self._best.backward(few["backward"])
        return self._best

    def _layer(self, module: str, dtype: Any) -> Any:
        errand, xp = self._errand, self._device.xp
        cls = getattr(self._exercise.module(module), self._exercise.class_name)
        arguments = {"dim": errand.dim, "eps": errand.eps}
        layer = cls(**{name: arguments[name] for name in self._exercise.constructor})
        for name, values in errand.parameters.items():
            setattr(layer, name, xp.asarray(np.array(values, np.float64).astype(dtype)))
        return layer

    def _exactly(self, piece: slice) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return float64 results of some rows, and the sizes of the terms that make them."""
        xp = self._device.xp
        layer = self._layer(self._errand.expected, np.float64)
        wide = self._kept["forward"][piece].astype(xp.float64)
        exact = {"y": layer.forward(wide)}
        dout = None
        if "backward" in self._kept:
            dout = self._kept["backward"][piece].astype(xp.float64)
            exact["dx"] = layer.backward(dout)
            exact |= {name: getattr(layer, name) for name in self._exercise.gradients}
        # `term_sizes` reads x, which not every module keeps under this name.
        layer.x = wide
        smallest = float(dtypes.limits_of(self._dtype).smallest_normal)
        sizes = self._exercise.module("reference_numpy").term_sizes(layer, dout, smallest)
        return exact, sizes

    def _worst(self, quantity: str, got: Any, exact: Any, size: Any) -> Worst:
        xp, info = self._device.xp, dtypes.limits_of(self._dtype)
        unit = float(info.eps) * size + float(info.smallest_subnormal)
        errors = xp.abs(got.astype(xp.float64) - exact) / unit
        errors = xp.where(xp.isnan(errors), xp.inf, errors)
        flat = int(errors.argmax())
        index = [int(place) for place in np.unravel_index(flat, errors.shape)]
        units = float(errors[tuple(index)])
        summed = quantity not in ("y", "dx")
        return Worst(
            quantity=quantity,
            index=index,
            expected=float(exact[tuple(index)]),
            got=repr(float(got[tuple(index)])),
            units=units if math.isfinite(units) else None,
            limit=limit_in_units(
                self._dtype, self._errand.dim, self._errand.rows, summed_over_rows=summed
            ),
        )


def _worse(one: Worst | None, other: Worst) -> Worst:
    """Return the worse of two; one that is not finite is."""
    if one is None or (one.units is not None and (other.units is None or other.units > one.units)):
        return other
    return one


def serve(referee: Referee, lines: Iterator[str], answer: Callable[[str], None]) -> None:
    """Carry out commands until there are no more, and answer each."""
    for line in lines:
        command, _, direction = line.strip().partition(" ")
        result: Any = {}
        if command == "draw":
            referee.draw(direction)
        elif command == "flush":
            referee.flush()
        elif command == "own":
            result = referee.own(direction)
        elif command == "check":
            result = [worst.model_dump() for worst in referee.check()]
        elif command != "ping":
            raise ValueError(f"no such command: {command}")
        answer(json.dumps(result))


def main(descriptor: int) -> int:
    process.die_with_parent(os.getppid())
    memory = mmap.mmap(descriptor, os.fstat(descriptor).st_size)

    def answer(text: str) -> None:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    try:
        device = importlib.import_module("gpu_worker.gpu.cuda").CudaDevice()
        errand = Errand.model_validate_json(sys.stdin.readline())
        serve(Referee(device, memory, errand), iter(sys.stdin.readline, ""), answer)
    except Exception as error:  # noqa: BLE001  whatever it is, the judge must hear it
        sys.stderr.write(f"{type(error).__name__}: {error}"[:1_000])
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
