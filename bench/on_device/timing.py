"""Times contenders against a copy of the same bytes, by turns in random order.

Every repeat draws fresh numbers into one of the sets of inputs, and times a copy and each
contender once on that set. What is reported are medians of ratios within repeats: what disturbs a
repeat as a whole, such as a lower clock, does not move them.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bench.on_device.api import Device

IMPOSSIBLE: Final = 1.05
"""No program moves its least bytes this much faster than a copy: such a time is refused."""
EVENTS_OF_HOST: Final = 1.02
"""Events may exceed the host's time for the same work by their resolution, not by more."""


SHORTEST_MS: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Rules:
    """When to stop. `standard_error` is that of the ratio to the copy."""

    repeats_least: int = 12
    repeats_most: int = 100
    standard_error: float = 0.005
    seconds_most: float = 1.2
    warm_ups: int = 2


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to do a pass: a call for each set of inputs, which returns what it made."""

    name: str
    calls: Sequence[Callable[[], Any]]


@dataclass(frozen=True, slots=True)
class Measured:
    """Medians over `calls`, with half the distance of the quartiles. `refused` says why not."""

    calls: int
    ms: float
    ms_spread: float
    of_copy: float
    of_copy_spread: float
    refused: str = ""


COPY: Final = "copy"


def measure(
    device: Device,
    contenders: Sequence[Contender],
    refresh: Callable[[int], None],
    rules: Rules,
    draw: random.Random,
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, Measured]:
    """Time the contenders, of which one is the copy.

    `refresh` queues the drawing of fresh numbers into a set of inputs, by its number.

    Raises:
        ValueError: none of the contenders is the copy.
        RuntimeError: work on the device failed.
    """
    if COPY not in {contender.name for contender in contenders}:
        raise ValueError("nothing to compare with: the copy is missing")
    sets = len(contenders[0].calls)
    for contender in contenders:
        for number in [*range(sets)] * rules.warm_ups:
            contender.calls[number]()
    device.synchronize()
    times: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    host: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    begun, order = clock(), list(contenders)
    for repeat in range(rules.repeats_most):
        if repeat >= rules.repeats_least and (
            clock() - begun > rules.seconds_most or _is_settled(times, rules)
        ):
            break
        refresh(repeat % sets)
        draw.shuffle(order)
        for contender in order:
            event_ms, host_ms = _time(device, contender.calls[repeat % sets], clock)
            times[contender.name].append(event_ms)
            host[contender.name].append(host_ms)
    return {name: _summary(times[name], times[COPY], host[name]) for name in times}


def _time(
    device: Device, call: Callable[[], Any], clock: Callable[[], float]
) -> tuple[float, float]:
    """Return a call's milliseconds by the device's events, and by this process's clock.

    The second includes the clearing of caches, which is queued before the first event.
    """
    device.synchronize()
    begun = clock()
    device.clear_caches()
    first = device.event()
    call()
    last = device.event()
    device.synchronize()
    host_ms = (clock() - begun) * 1e3
    # No time at all is refused later on, as one that is impossible.
    return max(device.elapsed_ms(first, last), SHORTEST_MS), host_ms


def _is_settled(times: dict[str, list[float]], rules: Rules) -> bool:
    copies = times[COPY]
    return all(
        _standard_error([copy / own for copy, own in zip(copies, each, strict=True)])
        <= rules.standard_error
        for name, each in times.items()
        if name != COPY
    )


def _standard_error(ratios: Sequence[float]) -> float:
    """Return the relative standard error of the mean."""
    return statistics.stdev(ratios) / math.sqrt(len(ratios)) / statistics.fmean(ratios)


def _summary(own: list[float], copies: list[float], host: list[float]) -> Measured:
    ratios = [copy / each for copy, each in zip(copies, own, strict=True)]
    of_copy = statistics.median(ratios)
    refused = ""
    if of_copy > IMPOSSIBLE:
        refused = "faster than a copy of the bytes that it must move"
    elif any(event > EVENTS_OF_HOST * other for event, other in zip(own, host, strict=True)):
        refused = "the device's events and the host's clock do not agree"
    return Measured(
        calls=len(own),
        ms=statistics.median(own),
        ms_spread=half_quartile_distance(own),
        of_copy=of_copy,
        of_copy_spread=half_quartile_distance(ratios),
        refused=refused,
    )


def half_quartile_distance(values: Sequence[float]) -> float:
    """Return half the distance between the quartiles; 0 for a single value."""
    if len(values) < 2:
        return 0.0
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / 2
