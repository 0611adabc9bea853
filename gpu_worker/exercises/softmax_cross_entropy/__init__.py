"""Softmax and cross-entropy: the loss of every possible class, and its gradient."""

from __future__ import annotations

from gpu_worker.exercises.spec import Specification

SPECIFICATION = Specification(
    title="Softmax and cross-entropy, forward and backward",
    class_name="SoftmaxCrossEntropyScratch",
    constructor=(),
    timed_shape=(509, 1024),
)
