"""How fast an accepted submission is, drawn below the roof that the memory's bandwidth is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django import template

from gpu_worker.messages.protocol import PLAIN_NUMPY

register = template.Library()

_WIDTH: Final = 560
_LEFT: Final = 78
_RIGHT: Final = 500
_TOP: Final = 34
_ROW: Final = 46
_BOTTOM: Final = 26
_LOWEST: Final = 0.001
"""The share of a copy's bandwidth at the left edge; what is slower is drawn there."""
_TICKS: Final = (0.001, 0.01, 0.1, 1.0)


@dataclass(frozen=True, slots=True)
class Tick:
    x: float
    label: str


@dataclass(frozen=True, slots=True)
class Row:
    """One direction: the submission's place, its spread, and that of the reference."""

    direction: str
    y: float
    x: float
    spread_from: float
    spread_to: float
    reference_x: float
    fraction: float
    reference_fraction: float
    ms: float
    times_reference: float
    refused: str


@dataclass(frozen=True, slots=True)
class Roofline:
    width: int
    height: int
    left: int
    top: int
    base: int
    roof_x: float
    ticks: list[Tick]
    rows: list[Row]
    shape: str
    dtype: str
    reference: str


@register.filter
def roofline(speed: Mapping[str, Any] | None) -> Roofline | None:
    """Lay out the rows on a logarithmic axis of shares of a copy's bandwidth; the roof is at 1."""
    if not speed or not speed.get("rows"):
        return None
    rows = [_row(number, row) for number, row in enumerate(speed["rows"])]
    base = _TOP + _ROW * len(rows)
    return Roofline(
        width=_WIDTH,
        height=base + _BOTTOM,
        left=_LEFT,
        top=_TOP,
        base=base,
        roof_x=_place(1.0),
        ticks=[Tick(_place(share), f"{share * 100:g} %") for share in _TICKS],
        rows=rows,
        shape=" × ".join(f"{extent:,}" for extent in speed["shape"]),
        dtype=str(speed["dtype"]),
        # Reports from before it was said are of the NumPy track.
        reference=str(speed.get("reference") or PLAIN_NUMPY),
    )


def _row(number: int, row: Mapping[str, Any]) -> Row:
    share, spread = float(row["copy_fraction"]), float(row["copy_fraction_spread"])
    reference = share * float(row["times_reference"])
    return Row(
        direction=str(row["direction"]),
        y=_TOP + _ROW * (number + 0.5),
        x=_place(share),
        spread_from=_place(share - spread),
        spread_to=_place(share + spread),
        reference_x=_place(reference),
        fraction=share,
        reference_fraction=reference,
        ms=float(row["ms"]),
        times_reference=float(row["times_reference"]),
        refused=str(row.get("refused") or ""),
    )


def _place(share: float) -> float:
    """Return where a share of the copy's bandwidth lies; a little room is kept beyond the roof."""
    low = math.log10(_LOWEST)
    within = min(max(share, _LOWEST), 1.3)
    return round(_LEFT + (math.log10(within) - low) / -low * (_RIGHT - _LEFT), 1)


@register.filter
def share_text(value: float) -> str:
    """Write a share of the copy's bandwidth: 2.7 %, 63 %."""
    percent = value * 100
    return f"{percent:.2g}\u202f%" if percent < 10 else f"{percent:.0f}\u202f%"
