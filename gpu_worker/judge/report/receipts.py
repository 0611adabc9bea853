"""The receipt that closes a report: what was graded, by which versions, on which node."""

from __future__ import annotations

import hashlib
import inspect
import platform
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.cases.reference import reference_class
from gpu_worker.messages.protocol import Receipt
from gpu_worker.sandbox import isolation
from gpu_worker.sandbox.client import OUTPUT_DRAIN_BYTES


def receipt(
    exercise: Exercise,
    source: str,
    *,
    cases: str,
    seed: int,
    node: str,
    limits: Mapping[str, float],
) -> Receipt:
    """Return the receipt of one grading; `cases` is the SHA-256 of its cases, in hexadecimal."""
    # On every track, results are compared with those of the NumPy reference.
    reference = Path(inspect.getfile(reference_class(exercise)))
    return Receipt(
        source_sha256=_sha256(source.encode("utf-8", "surrogatepass")),
        reference_sha256=_sha256(reference.read_bytes()),
        cases_sha256=cases,
        seed=f"{seed:032x}",
        python=platform.python_version(),
        numpy=np.__version__,
        platform=f"{platform.system()} {platform.release()} {platform.machine()}"[:200],
        node=node[:200],
        isolation=isolation.level_text()[:200],
        limits={
            **isolation.level_limits(),
            **limits,
            "printed_megabytes": OUTPUT_DRAIN_BYTES / (1 << 20),
        },
    )


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
