"""The yardsticks of speed beside the best plain NumPy known, the chapter's listing and a copy.

All are measured in one run, in turn, in processor time of this thread: what else the machine does
at the time counts for all of them alike, and mostly not at all. The fastest of the rounds is taken.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from gpu_worker.exercises import get, on_track
from gpu_worker.judge.cases.reference import reference_class
from gpu_worker.messages.protocol import Track

SHAPES: Final = ((4096, 4096), (32768, 512), (1024, 16384), (131072, 128), (64, 1024))
ROUNDS: Final = 12
SMALL_CALLS: Final = 50
"""Calls that are timed together where one is too short for the clock."""
PIECE_KILOBYTES: Final = (64, 128, 256, 512)
DIRECTIONS: Final = ("forward", "backward")


def measure(folder: Path) -> dict[str, Any]:
    """Measure forward and backward of each exercise in float32, interleaved."""
    return {
        "unit": "ms of processor time, the fastest of the rounds",
        "rounds": ROUNDS,
        "rows": [row for slug in on_track(Track.NUMPY) for row in _rows(slug)],
    }


def _rows(slug: str) -> list[dict[str, Any]]:
    exercise = get(slug)
    chunked = getattr(exercise.module("chunked_numpy"), exercise.class_name)
    readable = reference_class(exercise)
    rng = np.random.default_rng(1)
    rows = []
    for shape in SHAPES:
        x, dout = (rng.random(shape, dtype=np.float32) - 0.5 for _ in range(2))
        spare = np.zeros(shape, np.float32)
        layers = {"chunked": chunked(shape[1]), "readable": readable(shape[1])}
        if slug == "rmsnorm":
            layers |= {"expression": Expression(shape[1]), "vecdot": Vecdot(shape[1])}
            layers |= {f"pieces of {k} KB": InPieces(shape[1], k) for k in PIECE_KILOBYTES}
        calls: dict[str, Callable[[], Any]] = {"copy": partial(np.copyto, spare, x)}
        for name, layer in layers.items():
            calls[f"{name} forward"] = partial(layer.forward, x)
            calls[f"{name} backward"] = partial(layer.backward, dout)
        times = _interleaved(calls, SMALL_CALLS if x.size < 1 << 17 else 1)
        moved = 2 * x.nbytes / 1e6
        rows.append(
            {
                "exercise": slug,
                "shape": list(shape),
                "ms": {name: round(value, 4) for name, value in times.items()},
                "copy_gb_per_s": round(moved / times["copy"], 2),
                "forward_gb_per_s": round(moved / times["chunked forward"], 2),
                "backward_gb_per_s": round(1.5 * moved / times["chunked backward"], 2),
                **_beside_the_best(times),
            }
        )
    return rows


def _beside_the_best(times: dict[str, float]) -> dict[str, Any]:
    """Return the yardstick's time as a multiple of that of the best other plain NumPy."""
    found: dict[str, Any] = {}
    for direction in DIRECTIONS if "vecdot forward" in times else ():
        others = {
            name: value
            for name, value in times.items()
            if name.endswith(direction) and name.startswith(("vecdot", "pieces", "expression"))
        }
        best = min(others, key=lambda name: others[name])
        own = times[f"chunked {direction}"]
        found[f"{direction}_best_other"] = best.removesuffix(f" {direction}")
        found[f"{direction}_times_best_other"] = round(own / others[best], 3)
        found[f"{direction}_share_of_expression"] = round(own / times[f"expression {direction}"], 3)
    return found


def _interleaved(calls: dict[str, Callable[[], Any]], count: int) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(ROUNDS + 1):
        for name, call in calls.items():
            begun = time.thread_time()
            for _ in range(count):
                call()
            if number:
                times[name].append((time.thread_time() - begun) * 1e3 / count)
    return {name: min(values) for name, values in times.items()}


class Expression:
    """RMSNorm as the chapter first wrote it: one expression per formula."""

    def __init__(self, dim: int, eps: float = 1e-6) -> None:
        self.eps = np.float32(eps)
        self.gamma = np.ones(dim, np.float32)

    def forward(self, x: Any) -> Any:
        self.x = x
        self.rms = np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + self.eps)
        self.x_norm = x / self.rms
        return self.x_norm * self.gamma

    def backward(self, dout: Any) -> Any:
        dim = np.float32(self.x.shape[-1])
        self.dgamma = np.sum(dout * self.x_norm, axis=0)
        total = np.sum(dout * self.gamma * self.x, axis=-1, keepdims=True)
        return (dout * self.gamma / self.rms) - self.x / (dim * self.rms**3) * total


class Vecdot(Expression):
    """The same with one temporary per direction, and without pieces."""

    def forward(self, x: Any) -> Any:
        self.x = x
        mean_square = np.vecdot(x, x)[..., None] / np.float32(x.shape[-1])
        self.rstd = 1 / np.sqrt(mean_square + self.eps)
        y = np.multiply(x, self.rstd)
        y *= self.gamma
        return y

    def backward(self, dout: Any) -> Any:
        xhat = np.multiply(self.x, self.rstd)
        self.dgamma = np.einsum("ij,ij->j", dout, xhat)
        dx = np.multiply(dout, self.gamma)
        xhat *= np.vecdot(dx, xhat)[..., None] / np.float32(self.x.shape[-1])
        dx -= xhat
        dx *= self.rstd
        return dx


class InPieces(Vecdot):
    """`Vecdot` on a few rows at a time, float32 only: the best plain NumPy known."""

    def __init__(self, dim: int, kilobytes: int) -> None:
        super().__init__(dim)
        self.dim = np.float32(dim)
        self.step = max(1, kilobytes * 1024 // (4 * dim))

    def forward(self, x: Any) -> Any:
        self.x = x
        y = np.empty_like(x)
        self.rstd = np.empty((len(x), 1), np.float32)
        for start in range(0, len(x), self.step):
            piece = slice(start, start + self.step)
            rows = x[piece]
            rstd = (1 / np.sqrt(np.vecdot(rows, rows) / self.dim + self.eps))[:, None]
            self.rstd[piece] = rstd
            out = np.multiply(rows, rstd, out=y[piece])
            out *= self.gamma
        return y

    def backward(self, dout: Any) -> Any:
        dx = np.empty_like(dout)
        dgamma = np.zeros(dout.shape[1])
        spare = np.empty((self.step, dout.shape[1]), np.float32)
        for start in range(0, len(dout), self.step):
            piece = slice(start, start + self.step)
            rstd, d = self.rstd[piece], dout[piece]
            xhat = np.multiply(self.x[piece], rstd, out=spare[: len(d)])
            dgamma += np.einsum("ij,ij->j", d, xhat)
            g = np.multiply(d, self.gamma, out=dx[piece])
            xhat *= (np.vecdot(g, xhat) / self.dim)[:, None]
            g -= xhat
            g *= rstd
        self.dgamma = dgamma.astype(np.float32)
        return dx
