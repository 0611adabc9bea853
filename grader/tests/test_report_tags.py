"""Formatting and drawing of reports: trustworthy numbers, bars that fit."""

from __future__ import annotations

import pytest

from grader.templatetags import report


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "not finite"),
        (float("inf"), "inf"),
        (64.0, "64"),
        (0.4961, "0.496"),
        (1532.7, "1,533"),
        (2.7e9, "2.7 × 10⁹"),
        (1e-6, "1.0 × 10⁻⁶"),
    ],
)
def test_numbers_are_written_with_the_digits_that_help(value: float | None, text: str) -> None:
    assert report.number(value) == text


def test_only_a_full_score_is_shown_as_100_percent() -> None:
    assert report.percent(0.999).startswith("99")
    assert report.percent(1.0).startswith("100")
    # 0.29 * 100 is 28.999...: still 29.
    assert report.percent(0.29).startswith("29")


def test_a_shape_is_written_as_python_does() -> None:
    assert [report.shape(value) for value in ([], [7], [4, 128])] == ["()", "(7,)", "(4, 128)"]
    assert [report.index_text(value) for value in ([], [2, 0])] == ["", "[2, 0]"]


def test_limits_are_said_in_words_also_those_not_known_here() -> None:
    assert report.limit_text(("wall_seconds", 10.0)) == "10 s of time by the clock"
    assert report.limit_text(("threads", 2)) == "2 threads"
    assert report.limit_text(("device_memory_megabytes", 512)) == "device memory: 512 MB"


def test_the_histogram_counts_what_is_above_the_limit() -> None:
    chart = report.histogram({"histogram": [5, 3, 0, 0, 2, 0, 0, 1], "limit": 2.0})
    assert chart is not None
    assert (chart.total, chart.over, chart.over_is_exact) == (11, 3, True)


def test_the_histogram_says_when_the_limit_cuts_a_bar() -> None:
    chart = report.histogram({"histogram": [5, 3, 0, 4, 2, 0, 0, 1], "limit": 1.5})
    assert chart is not None
    assert (chart.over, chart.over_is_exact) == (3, False)


def test_the_limit_stands_where_its_bucket_ends() -> None:
    chart = report.histogram({"histogram": [1, 0, 0, 0, 0, 0, 0, 0], "limit": 1.0})
    assert chart is not None
    assert chart.limit_x is not None
    bar = chart.bars[2]  # 0.5 to 1 units
    assert bar.label == "1"
    assert chart.limit_x == pytest.approx(bar.x + bar.width + 1)


def test_empty_buckets_far_beyond_are_not_drawn_and_labels_do_not_crowd() -> None:
    near = report.histogram({"histogram": [9, 4] + [0] * 22, "limit": 1.5})
    far = report.histogram({"histogram": [0] * 23 + [4], "limit": 64.0})
    assert near is not None
    assert far is not None
    assert len(near.bars) < 24
    assert len(far.bars) == 24
    assert sum(bool(bar.label) for bar in far.bars) <= 13
    assert far.bars[-1].label == ">1M"


def test_no_elements_no_histogram() -> None:
    assert report.histogram({"histogram": [], "limit": 1.5}) is None
    assert report.histogram({"histogram": [0, 0], "limit": 1.5}) is None


def test_phases_follow_each_other_and_stay_inside_the_drawing() -> None:
    phases = report.timeline([{"phase": "a", "ms": 0.0}, {"phase": "b", "ms": 99.0}])
    assert phases[1].x == pytest.approx(phases[0].x + phases[0].width)
    assert all(phase.width > 0 and phase.x + phase.width <= 100 for phase in phases)
