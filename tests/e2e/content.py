"""The right and wrong answers of the first chapter, read from its file, and a few submissions."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).resolve().parent.parent.parent
COURSE = "learn-ml-from-scratch"
CHAPTER = "deep-neural-representations"
CHAPTER_PATH = f"/courses/{COURSE}/{CHAPTER}/"
CHAPTER_TITLE = "Deep Neural Representations & Normalization Mathematics"
FOLDER = PROJECT / "courses" / "library" / COURSE / CHAPTER


@cache
def chapter() -> dict[str, Any]:
    return dict(yaml.safe_load((FOLDER / "chapter.yaml").read_text(encoding="utf-8")))


def listing() -> str:
    return (FOLDER / "math_neural_norm.py").read_text(encoding="utf-8")


EPS_OUTSIDE_THE_ROOT = """\
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        wide = x.astype(np.float64)
        rms = np.sqrt(np.mean(wide**2, axis=-1, keepdims=True)) + self.eps
        self.xhat, self.rstd, self.dtype = wide / rms, 1 / rms, x.dtype
        return (self.xhat * self.gamma).astype(x.dtype)

    def backward(self, dout):
        scaled = dout.astype(np.float64) * self.gamma
        projection = np.mean(scaled * self.xhat, axis=-1, keepdims=True)
        leading = tuple(range(dout.ndim - 1))
        self.dgamma = np.sum(dout * self.xhat, axis=leading).astype(self.gamma.dtype)
        return ((scaled - self.xhat * projection) * self.rstd).astype(self.dtype)
"""
EPS_INSIDE_THE_ROOT = EPS_OUTSIDE_THE_ROOT.replace(
    "keepdims=True)) + self.eps", "keepdims=True) + self.eps)"
)
