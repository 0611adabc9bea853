# outcome: accepted
from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np


class Saved(NamedTuple):
    xhat: np.ndarray
    rstd: np.ndarray
    dtype: np.dtype


def mean_last(a: np.ndarray) -> np.ndarray:
    return a.mean(axis=-1, keepdims=True)


@dataclass
class LayerNormScratch:
    dim: int
    eps: float = 1e-6
    dgamma: np.ndarray | None = field(default=None, repr=False)
    dbeta: np.ndarray | None = field(default=None, repr=False)
    saved: Saved | None = field(default=None, repr=False)

    def __post_init__(self):
        self.gamma, self.beta = np.ones(self.dim), np.zeros(self.dim)

    def forward(self, x):
        wide = x.astype(np.longdouble).astype(np.float64)
        wide = wide - mean_last(wide)
        rstd = (mean_last(wide**2) + self.eps) ** -0.5
        self.saved = Saved(wide * rstd, rstd, x.dtype)
        return (self.saved.xhat * self.gamma + self.beta).astype(x.dtype)

    def backward(self, dout):
        xhat, rstd, dtype = self.saved
        d = dout.astype(np.float64)
        flat = d.reshape(-1, self.dim)
        self.dgamma = (flat * xhat.reshape(-1, self.dim)).sum(0).astype(self.gamma.dtype)
        self.dbeta = flat.sum(0).astype(self.beta.dtype)
        g = d * self.gamma
        return (rstd * (g - mean_last(g) - xhat * mean_last(g * xhat))).astype(dtype)
