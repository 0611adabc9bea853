"""From probabilities to losses."""

from __future__ import annotations

from typing import Final

import numpy as np

from gpu_worker.exercises.accumulate import Array
from gpu_worker.exercises.bank import Bank
from gpu_worker.exercises.softmax_cross_entropy.reference_numpy import SoftmaxCrossEntropyScratch

MISTAKES: Final = Bank()
_LOSS: Final = {
    "step": "loss", "formula": "cross-entropy", "line": "losses", "test": "losses"
}  # fmt: skip
_LOG: Final = {**_LOSS, "formula": "log-sum-exp", "test": "precision"}


class LogOfSoftmaxInFloat64(SoftmaxCrossEntropyScratch):
    def losses(self) -> Array:
        return -np.log(self.probabilities())


_LOG_OF_SOFTMAX: Final = (
    "The logarithm is taken of the finished probabilities, or of each exponential. Where one "
    "underflows to zero, its loss becomes infinite: write -log(p) as log(S) - (x - max)."
)
MISTAKES.variant("log-of-softmax", _LOG_OF_SOFTMAX, **_LOG)(LogOfSoftmaxInFloat64)
# In float32 probabilities underflow from losses of 104 on, in float64 from 746 on.
MISTAKES.variant("log-of-softmax", _LOG_OF_SOFTMAX, native=True, **_LOG)(
    type("LogOfSoftmaxInFloat32", (LogOfSoftmaxInFloat64,), {})
)

_EPS_IN_LOG: Final = (
    "A small number is added inside the logarithm, or probabilities are clipped, which caps the "
    "loss of a confident mistake and changes the others: write -log(p) as log(S) - (x - max)."
)


def _with_eps(eps: float) -> type[SoftmaxCrossEntropyScratch]:
    class EpsInLog(SoftmaxCrossEntropyScratch):
        def losses(self) -> Array:
            return -np.log(self.probabilities() + self.x.dtype.type(eps))

    EpsInLog.__name__ = f"EpsInLog{round(-np.log10(eps))}"
    return EpsInLog


def _clipped(least: float, most: float) -> type[SoftmaxCrossEntropyScratch]:
    class ClippedInLog(SoftmaxCrossEntropyScratch):
        def losses(self) -> Array:
            return -np.log(np.clip(self.probabilities(), least, most))

    sides = "BothSides" if most < 1.0 else ""
    ClippedInLog.__name__ = f"ClippedInLog{round(-np.log10(least))}{sides}"
    return ClippedInLog


_CLIPPED: Final = (
    "Probabilities are clipped, which caps the loss of a confident mistake, and the clipped ones "
    "are in the gradient too: write -log(p) as log(S) - (x - max), and take p as it is."
)


def _clipped_throughout(least: float, most: float) -> type[SoftmaxCrossEntropyScratch]:
    class Clipped(SoftmaxCrossEntropyScratch):
        def losses(self) -> Array:
            return -np.log(self.probabilities())

        def probabilities(self) -> Array:
            return np.clip(super().probabilities(), least, most)

    sides = "BothSides" if most < 1.0 else ""
    Clipped.__name__ = f"Clipped{round(-np.log10(least))}{sides}"
    return Clipped


for _eps in (1e-12, 1e-15, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6):
    for _most in (1.0, 1.0 - _eps):
        MISTAKES.variant("eps-in-log", _CLIPPED, **_LOG)(_clipped_throughout(_eps, _most))
for _eps in (1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-15):
    MISTAKES.variant("eps-in-log", _EPS_IN_LOG, **_LOG)(_with_eps(_eps))
for _eps in (1e-12, 1e-15, 1e-10, 1e-7):
    MISTAKES.variant("eps-in-log", _EPS_IN_LOG, **_LOG)(_clipped(_eps, 1.0))
for _eps in (1e-12, 1e-15, 1e-7):
    MISTAKES.variant("eps-in-log", _EPS_IN_LOG, **_LOG)(_clipped(_eps, 1.0 - _eps))


@MISTAKES.variant(
    "shift-left-out-of-losses",
    "The sum is that of the shifted exponentials, but x itself is subtracted, so every loss is "
    "off by the row's maximum. Subtract x - max, or add the maximum to the log of the sum.",
    **{**_LOSS, "formula": "log-sum-exp"},
)
class ShiftLeftOutOfLosses(SoftmaxCrossEntropyScratch):
    def losses(self) -> Array:
        return np.log(self.total) - self.x


@MISTAKES.variant(
    "sign-of-losses",
    "The losses have the wrong sign: log(p) is never positive, and the loss is -log(p).",
    **_LOSS,
)
class SignOfLosses(SoftmaxCrossEntropyScratch):
    def losses(self) -> Array:
        return -super().losses()


@MISTAKES.variant(
    "softmax-returned",
    "forward returns the probabilities. Asked for are the losses, -log of them.",
    **_LOSS,
)
class SoftmaxReturned(SoftmaxCrossEntropyScratch):
    def losses(self) -> Array:
        return self.probabilities()


@MISTAKES.variant(
    "log-base-two",
    "The losses are in bits: the logarithm has base 2. Use the natural one, np.log.",
    **_LOSS,
)
class LogBaseTwo(SoftmaxCrossEntropyScratch):
    def losses(self) -> Array:
        return super().losses() / np.log(2.0).astype(self.x.dtype)


@MISTAKES.variant(
    "log-base-ten",
    "The logarithm has base 10. Use the natural one, np.log.",
    **_LOSS,
)
class LogBaseTen(SoftmaxCrossEntropyScratch):
    def losses(self) -> Array:
        return super().losses() / np.log(10.0).astype(self.x.dtype)


@MISTAKES.variant(
    "mean-over-classes",
    "The losses are divided by the number of classes. They are alternatives, not parts of one "
    "loss: no mean over the last axis.",
    **_LOSS,
)
class MeanOverClasses(SoftmaxCrossEntropyScratch):
    def losses(self) -> Array:
        return super().losses() / self.x.shape[-1]


@MISTAKES.variant(
    "mean-over-rows",
    "The losses are divided by the number of rows. forward returns each row's own; whoever "
    "averages over the batch puts the 1/N into dout.",
    **{**_LOSS, "step": "batch"},
)
class MeanOverRows(SoftmaxCrossEntropyScratch):
    def losses(self) -> Array:
        rows = max(1, self.x.size // self.x.shape[-1])
        return super().losses() / rows


@MISTAKES.variant(
    "probability-weighted",
    "The losses are multiplied by the probabilities: those are the terms of the entropy, where "
    "the classes are drawn from p itself. Here dout brings the weights.",
    **_LOSS,
)
class ProbabilityWeighted(SoftmaxCrossEntropyScratch):
    def losses(self) -> Array:
        return self.probabilities() * super().losses()
