"""The simulation behind the figure of the residual stream: run this module to write its data anew.

    python -m courses.figures.simulate_residual

Rows of standard normal numbers run through `DEPTH` residual blocks at initialisation. A block is a
two-layer ReLU network whose weights are drawn so that its output is as large as its input:
W1 ~ N(0, 1/width), W2 ~ N(0, 2/hidden). With the gain g in front of the branch and N for RMSNorm,

    plain      x <- x + g f(x)
    post-norm  x <- N(x + g f(x))
    pre-norm   x <- x + g f(N(x))

All three see the same weights. What is kept is the variance of all numbers of the stream after each
block, as the mean over the seeds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DATA_PATH = Path(__file__).parent / "data" / "residual_stream.json"
GAINS = (1.0, 0.5, 0.25)
DEPTH = 48
WIDTH = 256
HIDDEN = 256
ROWS = 64
SEEDS = tuple(range(8))
EPS = 1e-6
DIGITS = 4

Rows = NDArray[np.float64]
Block = Callable[[Rows], Rows]


def rms_norm(x: Rows) -> Rows:
    """Return the rows of `x` (rows, width) at unit mean square, up to `EPS`."""
    return x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + EPS)


STREAMS: dict[str, Callable[[Rows, Block, float], Rows]] = {
    "plain": lambda x, block, gain: x + gain * block(x),
    "post": lambda x, block, gain: rms_norm(x + gain * block(x)),
    "pre": lambda x, block, gain: x + gain * block(rms_norm(x)),
}


def simulate(gain: float, depth: int, seed: int) -> dict[str, list[float]]:
    """Return the variance of each kind of stream after 0, 1, ..., `depth` blocks, for one seed."""
    random = np.random.default_rng(seed)
    start = random.standard_normal((ROWS, WIDTH))
    streams = dict.fromkeys(STREAMS, start)
    variances = {name: [float(np.var(start))] for name in STREAMS}
    for _ in range(depth):
        into = random.normal(0, 1 / np.sqrt(WIDTH), (WIDTH, HIDDEN))
        out = random.normal(0, np.sqrt(2 / HIDDEN), (HIDDEN, WIDTH))
        for name, step in STREAMS.items():
            streams[name] = step(streams[name], lambda z: np.maximum(z @ into, 0) @ out, gain)  # noqa: B023
            variances[name].append(float(np.var(streams[name])))
    return variances


def mean_over_seeds(gain: float, depth: int) -> dict[str, list[float]]:
    """Return the mean variances over all seeds, to `DIGITS` digits."""
    runs = [simulate(gain, depth, seed) for seed in SEEDS]
    return {
        name: [
            float(f"{value:.{DIGITS}g}")
            for value in np.mean([run[name] for run in runs], axis=0).tolist()
        ]
        for name in STREAMS
    }


def write_data() -> None:
    data = {
        "depth": DEPTH,
        "width": WIDTH,
        "hidden": HIDDEN,
        "rows": ROWS,
        "seeds": len(SEEDS),
        "variances": {f"{gain:g}": mean_over_seeds(gain, DEPTH) for gain in GAINS},
    }
    DATA_PATH.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_data()
