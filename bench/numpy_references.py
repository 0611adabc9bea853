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
# The best plain NumPy known, as a share of the chapter's expression in the run that measured both:
# 16.5 of 37.6 ms, 20.9 of 44.6, 13.0 of 30.4, 17.8 of 40.1.
BEST_KNOWN_SHARE = {
    (4096, 4096): 0.439, (32768, 512): 0.469, (1024, 16384): 0.428, (131072, 128): 0.444
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
            layers |= {"expression": Expression(shape[1]), "vecdot": Vecdot(shape[1])}
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
                **_beside_the_best_known(shape, times),
            }
        )
    return rows


def _beside_the_best_known(shape: tuple[int, int], times: dict[str, float]) -> dict[str, Any]:
    if "expression forward" not in times:
        return {}
    share = times["chunked forward"] / times["expression forward"]
    known = BEST_KNOWN_SHARE.get(shape)
    return {
        "forward_share_of_expression": round(share, 3),
        "best_known_share": known,
        "forward_times_best_known": round(share / known, 3) if known else None,
        "forward_times_vecdot": round(times["chunked forward"] / times["vecdot forward"], 3),
    }


def _interleaved(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(ROUNDS + 1):
        for name, call in calls.items():
            begun = time.perf_counter()
            call()
            if number:
                times[name].append((time.perf_counter() - begun) * 1e3)
    return {name: round(statistics.median(values), 3) for name, values in times.items()}


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
