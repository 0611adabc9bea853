"""A grader as it must not be: the learner's code runs in the process that judges it.

The control for attacks on the judge: python -m gpu_worker.tests.in_process < attack
"""

from __future__ import annotations

import pickle
import sys

import numpy as np


def grade(source: str) -> None:
    x = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    expected_output = x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-6)
    names: dict[str, object] = {}
    exec(source, names)  # noqa: S102  that is its mistake
    layer = names["RMSNormScratch"](3)  # type: ignore[operator]
    got = layer.forward(x)
    if type(got) is np.ndarray and got.dtype == object:
        # As it would arrive from a process that sends pickles.
        pickle.loads(pickle.dumps(got[0]))  # noqa: S301
    elif np.allclose(got, expected_output):
        sys.stdout.write("accepted\n")


if __name__ == "__main__":
    grade(sys.stdin.read())
