"""What a report says of timed calls, on a processor and on a device."""

from __future__ import annotations

import pytest

from gpu_worker.judge.running.timed_calls import Sample, speed_row
from gpu_worker.messages.protocol import SpeedRow

MS = 1e-3
NBYTES = 4_000_000


def row(direction: str, *milliseconds: float, copy: float = 1.0) -> SpeedRow:
    """Return what is said of calls that took so long, where the reference takes 2 ms."""
    samples = [Sample(ms * MS, 2 * MS, copy * MS) for ms in milliseconds]
    return speed_row(direction, samples, copy * MS, NBYTES)


def test_a_row_holds_the_medians_and_how_they_spread() -> None:
    said = row("backward", 1.6, 1.8, 2.4)
    assert (said.direction, said.calls, said.refused) == ("backward", 3, "")
    assert (said.ms, said.spread_ms) == pytest.approx((1.8, 0.4))
    assert (said.reference_ms, said.copy_ms) == pytest.approx((2.0, 1.0))
    assert (said.times_reference, said.times_reference_spread) == pytest.approx((0.9, 0.2))
    # x and dout are read and dx is written: half as much again as a copy moves.
    assert said.megabytes == 12
    assert said.copy_fraction == pytest.approx(1.5 / 1.8)


def test_the_spread_of_many_calls_leaves_out_the_extremes() -> None:
    assert row("forward", 1.1, 1.2, 1.3, 1.4, 90.0).spread_ms == pytest.approx(0.1)


@pytest.mark.parametrize(("direction", "least"), [("forward", 1.0), ("backward", 1.5)])
def test_a_time_too_short_to_move_the_bytes_is_refused(direction: str, least: float) -> None:
    possible, impossible = 0.97 * least, 0.94 * least
    assert not row(direction, possible).refused
    said = row(direction, 2 * least, impossible)
    assert "shorter than moving the bytes" in said.refused
    assert said.copy_fraction == 0.0


def test_no_time_counts_as_faster_than_a_copy() -> None:
    assert row("forward", 0.98, 0.98, 0.98).copy_fraction == 1.0
