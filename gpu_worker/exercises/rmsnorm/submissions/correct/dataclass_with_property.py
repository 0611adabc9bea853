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
    return np.mean(a, axis=-1, keepdims=True)


@dataclass
class RMSNormScratch:
    dim: int
    eps: float = 1e-6
    dgamma: np.ndarray | None = field(default=None, repr=False)
    saved: Saved | None = field(default=None, repr=False)

    def __post_init__(self):
        self._gamma = np.ones(self.dim, np.float32)

    @property
    def gamma(self):
        return self._gamma

    @gamma.setter
    def gamma(self, value):
        assert value.shape == (self.dim,)
        self._gamma = np.array(value)

    def forward(self, x):
        wide = x.astype(np.float64)
        rstd = (mean_last(wide * wide) + self.eps) ** -0.5
        self.saved = Saved(wide * rstd, rstd, x.dtype)
        return (self.saved.xhat * self.gamma).astype(x.dtype)

    def backward(self, dout):
        xhat, rstd, dtype = self.saved
        d = dout.astype(np.float64)
        self.dgamma = np.sum((d * xhat).reshape(-1, self.dim), axis=0).astype(self.gamma.dtype)
        g = d * self.gamma
        return (rstd * (g - xhat * mean_last(g * xhat))).astype(dtype)
