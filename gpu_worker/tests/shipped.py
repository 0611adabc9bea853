"""The exercises that come with LearnML, in one table.

An exercise that is added to a copy of LearnML is tested for what holds of every exercise. One that
stands here is held to more: enough stored programs and known mistakes, cases of every kind, a
yardstick of speed, and the result of its check before publishing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gpu_worker.messages.protocol import Track


@dataclass(frozen=True, slots=True)
class Shipped:
    """What one exercise has; the numbers are those it has at least, on the track `numpy`."""

    class_name: str
    tracks: tuple[Track, ...]
    correct: int = 0
    wrong: int = 0
    mistakes: int = 20


BOTH: Final = (Track.NUMPY, Track.CUPY)
KERNELS: Final = (Track.CUPY,)

SHIPPED: Final[Mapping[str, Shipped]] = {
    "layernorm": Shipped("LayerNormScratch", BOTH, correct=12, wrong=40),
    "layernorm_fused_forward": Shipped("LayerNormScratch", KERNELS),
    "rmsnorm": Shipped("RMSNormScratch", BOTH, correct=12, wrong=40),
    "rmsnorm_fused_backward": Shipped("RMSNormScratch", KERNELS),
    "rmsnorm_fused_forward": Shipped("RMSNormScratch", KERNELS),
    "rmsnorm_one_launch": Shipped("RMSNormScratch", KERNELS),
    "rmsnorm_sixteen_bytes": Shipped("RMSNormScratch", KERNELS),
    "rmsnorm_two_kernels": Shipped("RMSNormScratch", KERNELS),
    "softmax_cross_entropy": Shipped(
        "SoftmaxCrossEntropyScratch", (Track.NUMPY,), correct=12, wrong=40
    ),
}


def shipped(track: Track) -> list[str]:
    """Return the slugs of those that offer a track."""
    return [slug for slug, one in SHIPPED.items() if track in one.tracks]
