"""Formatting and drawing of a report's numbers. Display only: nothing here judges."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from grader import deadlines
from grader.models import Submission
from grader.presentation.hidden_characters import with_hidden_marked
from grader.presentation.outcomes import badge_of, badge_of_cases

register = template.Library()

LIMIT_TEXTS: Mapping[str, str] = {
    "wall_seconds": "{} s of time by the clock",
    "cpu_seconds": "{} s of processor time",
    "memory_megabytes": "{} MB of memory",
    "device_megabytes": "{} MB of the device’s memory",
    "output_kilobytes": "{} KB of printed output kept",
    "source_kilobytes": "{} KB of source",
    "scratch_megabytes": "{} MB of scratch files",
    "threads": "{} thread",
    "builds": "{} sources of kernels built",
    "build_seconds": "{} s of building them",
}
UNITS: Mapping[str, str] = {
    "seconds": "s",
    "milliseconds": "ms",
    "megabytes": "MB",
    "kilobytes": "KB",
    "bytes": "bytes",
}
_BYTES_OF: Mapping[str, int] = {"bfloat16": 2, "float16": 2, "float32": 4, "float64": 8}
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_NARROW_SPACE = "\u202f"
_FIRST_BUCKET_UNITS = 0.25
_CHART_WIDTH, _CHART_TOP, _BAR_HEIGHT, _LABEL_HEIGHT = 560, 32, 100, 24
_LABELS_AT_MOST = 13
_BUCKETS_AT_LEAST = 8
_BASE = _CHART_TOP + _BAR_HEIGHT


register.filter("hidden_marked", with_hidden_marked, is_safe=True)
register.filter("badge", badge_of)
register.filter("cases_badge", badge_of_cases)


@register.filter
def number(value: float | None) -> str:
    """Format a number with a sensible number of digits: 12,345 · 3.14 · 1.2 × 10²⁰."""
    if value is None:
        return "not finite"
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e7:
        return f"{int(value):,}"
    if 1e-3 <= abs(value) < 1e5:
        return f"{value:,.3g}" if abs(value) < 100 else f"{value:,.0f}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa} × 10{str(int(exponent)).translate(_SUPERSCRIPT)}"


@register.filter
def percent(value: float | None) -> str:
    """Format a fraction as a whole percentage; 0.996 is 99 %, since only 1 is everything."""
    return "" if value is None else f"{math.floor(value * 100 + 1e-9)}{_NARROW_SPACE}%"


@register.filter
def sizes_of_x(moved: int, counted: Mapping[str, Any]) -> str:
    """Format bytes as multiples of x, with the digits of the notes beside the table."""
    size = math.prod(counted["shape"]) * _BYTES_OF[counted["dtype"]]
    return f"{moved / size:.3g}" if size else "0"


@register.filter
def shape(value: Sequence[int]) -> str:
    """Format a shape or an index as Python does: (4, 128), (7,), ()."""
    return f"({value[0]},)" if len(value) == 1 else f"({', '.join(str(part) for part in value)})"


@register.filter
def index_text(value: Sequence[int]) -> str:
    """Format an index as in code: [3, 17], or nothing for a scalar."""
    return f"[{', '.join(str(part) for part in value)}]" if value else ""


@register.filter
def plain(value: float) -> str:
    """Format a number as in code: 1e-06, 0.001, 1."""
    return f"{value:g}"


@register.filter
def exact(value: float | None) -> str:
    """Format a number with all of its significant digits."""
    return "not finite" if value is None else repr(value)


@register.filter
def add_number(value: float, addend: float) -> float:
    """Add two numbers, either of which may be a float, unlike Django's `add`."""
    return round(value + addend, 2)


@register.filter
def milliseconds(value: float) -> str:
    """Format a duration in milliseconds: 0.4 ms, 12 ms, 1.25 s."""
    if value >= 1000:
        return f"{value / 1000:.2f} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


@register.simple_tag
def moment(value: datetime, to: str = "minute") -> SafeString:
    """Format a time to the minute or second: in UTC, and with a script in the reader's zone.

    The zone is always named: 31 May 2027, 23:59 UTC.
    """
    own = value.astimezone(UTC)
    text = f"{own:%-d %B %Y, %H:%M}{f':{own:%S}' if to == 'second' else ''} UTC"
    return format_html('<time datetime="{}" data-to="{}">{}</time>', own.isoformat(), to, text)


@register.filter
def is_late(submission: Submission) -> bool:
    """Whether it was submitted after its learner's deadline."""
    return deadlines.is_late(submission)


@register.filter
def limit_text(item: tuple[str, float]) -> str:
    """Describe one limit (name ending in its unit, value) in plain words."""
    name, value = item
    if name in LIMIT_TEXTS:
        text = LIMIT_TEXTS[name].format(number(value))
        return f"{text}s" if name == "threads" and value != 1 else text
    words, _, unit = name.rpartition("_")
    if unit in UNITS and words:
        return f"{words.replace('_', ' ')}: {number(value)} {UNITS[unit]}"
    return f"{name.replace('_', ' ')}: {number(value)}"


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of the histogram, in the units of the drawing's view box."""

    x: float
    y: float
    width: float
    height: float
    count: int
    label: str
    text: str
    over: bool
    straddles: bool

    @property
    def middle(self) -> float:
        return round(self.x + self.width / 2, 1)


@dataclass(frozen=True, slots=True)
class Histogram:
    """Errors per power-of-two bucket of units, ready to be drawn."""

    width: int
    height: int
    base: int
    bars: list[Bar]
    limit_x: float | None
    total: int
    over: int
    over_is_exact: bool


@register.filter
def histogram(worst: Mapping[str, Any]) -> Histogram | None:
    """Lay out the histogram of a report's worst case; None where it holds no counts.

    Bucket k holds errors up to 0.25 * 2^k units, the last one all the rest. Heights grow with
    log(1 + count), so that one bad element among a million stays visible.
    """
    # A broken worker may send negative counts.
    counts = [max(0, int(count)) for count in worst.get("histogram") or []]
    total = sum(counts)
    if total == 0:
        return None
    limit = float(worst["limit"])
    shown = _buckets_shown(counts, limit)
    step = _CHART_WIDTH / shown
    tallest = math.log1p(max(counts))
    labelled = math.ceil(shown / _LABELS_AT_MOST)
    bars = [
        _bar(index, count, step, math.log1p(count) / tallest, limit, index == len(counts) - 1)
        for index, count in enumerate(counts[:shown])
    ]
    bars = [
        replace(bar, label=bar.label if (shown - 1 - index) % labelled == 0 else "")
        for index, bar in enumerate(bars)
    ]
    return Histogram(
        width=_CHART_WIDTH,
        height=_BASE + _LABEL_HEIGHT,
        base=_BASE,
        bars=bars,
        limit_x=_limit_position(limit, shown, step),
        total=total,
        over=sum(bar.count for bar in bars if bar.over),
        # False where the limit lies inside a non-empty bucket: some of it may be above.
        over_is_exact=not any(bar.count and bar.straddles for bar in bars),
    )


def _buckets_shown(counts: Sequence[int], limit: float) -> int:
    """Return how many buckets to draw: all that hold elements, the limit, and one beyond."""
    last_filled = max(index for index, count in enumerate(counts) if count)
    at_limit = math.ceil(math.log2(limit / _FIRST_BUCKET_UNITS)) if limit > 0 else 0
    return min(len(counts), max(last_filled, at_limit, _BUCKETS_AT_LEAST - 2) + 2)


def _bar(index: int, count: int, step: float, share: float, limit: float, is_last: bool) -> Bar:
    lower = 0.0 if index == 0 else _FIRST_BUCKET_UNITS * 2.0 ** (index - 1)
    upper = math.inf if is_last else _FIRST_BUCKET_UNITS * 2.0**index
    height = round(share * _BAR_HEIGHT, 1) if count else 0.0
    label = f">{_short(lower)}" if is_last else _short(upper)
    span = f"above {_short(lower)}" if is_last else f"{_short(lower)} to {_short(upper)}"
    return Bar(
        x=round(index * step + 1, 1),
        y=round(_BASE - height, 1),
        width=round(step - 2, 1),
        height=height,
        count=count,
        label=label,
        text=f"{count:,} with {span} units",
        over=lower >= limit,
        straddles=lower < limit < upper,
    )


def _limit_position(limit: float, buckets: int, step: float) -> float | None:
    """Return the position of the limit on the axis: bucket k ends at (k + 1) steps; None if
    outside.
    """
    if limit <= 0:
        return None
    place = math.log2(limit / _FIRST_BUCKET_UNITS) + 1
    return round(place * step, 1) if 0 < place < buckets else None


def _short(value: float) -> str:
    if value == 0:
        return "0"
    for power, suffix in ((30, "G"), (20, "M"), (10, "k")):
        if value >= 2.0**power:
            return f"{value / 2.0**power:g}{suffix}"
    return f"{value:g}"


@dataclass(frozen=True, slots=True)
class TimelinePhase:
    """One measured phase with its position on the time line."""

    phase: str
    ms: float
    x: float
    width: float


@register.filter
def timeline(timings: Sequence[Mapping[str, Any]]) -> list[TimelinePhase]:
    """Lay phases end to end over a width of 100, each at least 0.5 wide to be visible."""
    total = sum(float(timing["ms"]) for timing in timings) or 1.0
    phases, x = [], 0.0
    for timing in timings:
        width = max(0.5, 99.0 * float(timing["ms"]) / total)
        phases.append(TimelinePhase(str(timing["phase"]), float(timing["ms"]), round(x, 2), width))
        x += width
    return [TimelinePhase(p.phase, p.ms, p.x, round(min(p.width, 100 - p.x), 2)) for p in phases]
