"""The best plain NumPy beside the chapter's listing, and a copy, in one run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gpu_worker.exercises import get, slugs
from gpu_worker.judge.reference import reference_class

SHAPES = ((4096, 4096), (32768, 512), (1024, 16384), (131072, 128), (64, 1024))
ROUNDS = 9
# Measured with a caller that keeps no output; research figures for forward, in ms.
BEST_KNOWN_FORWARD_MS = {
    (4096, 4096): 16.5, (32768, 512): 20.9, (1024, 16384): 13.0, (131072, 128): 17.8
}  # fmt: skip


def measure(folder: Path) -> dict[str, Any]:
    """Measure forward and backward of each exercise in float32, interleaved."""
    return {"unit": "ms", "rounds": ROUNDS, "rows": [row for s in slugs() for row in _rows(s)]}


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
            layers["expression"] = Seed(shape[1])
        calls: dict[str, Callable[[], Any]] = {"copy": partial(np.copyto, spare, x)}
        for name, layer in layers.items():
            calls[f"{name} forward"] = partial(layer.forward, x)
            calls[f"{name} backward"] = partial(layer.backward, dout)
        times = _interleaved(calls)
        moved = 2 * x.nbytes / 1e6
        rows.append(
            {
                "exercise": slug,
                "shape": list(shape),
                "ms": times,
                "copy_gb_per_s": round(moved / times["copy"], 2),
                "forward_gb_per_s": round(moved / times["chunked forward"], 2),
                "backward_gb_per_s": round(1.5 * moved / times["chunked backward"], 2),
                "best_known_forward_ms": BEST_KNOWN_FORWARD_MS.get(shape),
            }
        )
    return rows


def _interleaved(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(ROUNDS + 1):
        for name, call in calls.items():
            begun = time.perf_counter()
            call()
            if number:
                times[name].append((time.perf_counter() - begun) * 1e3)
    return {name: round(statistics.median(values), 3) for name, values in times.items()}


class Seed:
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
