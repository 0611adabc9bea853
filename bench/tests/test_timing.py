"""How contenders are timed: by turns, on fresh inputs, as ratios, and refused where impossible."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from bench.on_device.timing import COPY, Contender, Measured, Rules, measure

RULES = Rules(repeats_least=6, repeats_most=20, seconds_most=1e9, warm_ups=1)


class Clockwork:
    """A device whose clock is moved by its contenders alone."""

    xp = None

    def __init__(self) -> None:
        self.now = 0.0
        self.log: list[str] = []
        self.lie = 1.0

    def contender(self, name: str, seconds: Callable[[], float], sets: int = 3) -> Contender:
        def call(number: int) -> Callable[[], None]:
            def run() -> None:
                self.log.append(f"{name} {number}")
                self.now += seconds()

            return run

        return Contender(name, [call(number) for number in range(sets)])

    def event(self) -> float:
        return self.now

    def elapsed_ms(self, first: float, last: float) -> float:
        return (last - first) * 1e3 * self.lie

    def synchronize(self) -> None:
        self.log.append("synchronize")

    def clear_caches(self) -> None:
        self.log.append("clear")
        self.now += 1e-3


def timed(device: Any, contenders: list[Contender], rules: Rules = RULES) -> dict[str, Measured]:
    def refresh(number: int) -> None:
        device.log.append(f"refresh {number}")

    return measure(device, contenders, refresh, rules, random.Random(1), clock=lambda: device.now)


def test_a_contender_is_compared_with_the_copy_of_its_own_repeat() -> None:
    device, drift = Clockwork(), [1.0]

    def copying() -> float:
        return 0.010 * drift[0]

    def at_half_speed() -> float:
        return 0.020 * drift[0]

    contenders = [device.contender(COPY, copying), device.contender("kernel", at_half_speed)]
    turns = Counter[str]()

    def refresh(number: int) -> None:
        # From one repeat to the next everything is up to four times slower.
        turns["n"] += 1
        drift[0] = 1.0 + 3.0 * (turns["n"] % 2)

    found = measure(device, contenders, refresh, RULES, random.Random(1), clock=lambda: device.now)[
        "kernel"
    ]
    assert found.of_copy == pytest.approx(0.5)
    assert found.of_copy_spread == pytest.approx(0.0, abs=1e-9)
    assert found.ms_spread > 10


def test_every_repeat_has_fresh_inputs_clear_caches_and_all_contenders_on_one_set() -> None:
    device = Clockwork()
    names = (COPY, "a", "b")
    timed(device, [device.contender(name, lambda: 0.01) for name in names])
    log = device.log[device.log.index("refresh 0") :]
    calls = [entry for entry in log if entry.split()[0] in names]
    assert len(calls) >= RULES.repeats_least * len(names)
    for turn in range(len(calls) // len(names)):
        block = calls[turn * len(names) : (turn + 1) * len(names)]
        assert {entry.split()[0] for entry in block} == set(names)
        assert {entry.split()[1] for entry in block} == {str(turn % 3)}
    refreshed = [entry.split()[1] for entry in log if entry.startswith("refresh")]
    assert refreshed == [calls[turn * len(names)].split()[1] for turn in range(len(refreshed))]
    assert log.count("clear") == len(calls)
    for place, entry in enumerate(log):
        if entry.split()[0] in names:
            assert log[place - 1] == "clear"


def test_the_order_of_contenders_changes_from_repeat_to_repeat() -> None:
    device, turn = Clockwork(), iter(range(10_000))
    names = (COPY, "a", "b", "c")
    # Times that jump, so that all repeats are needed.
    timed(device, [device.contender(n, lambda: 0.01 + 0.005 * (next(turn) % 3)) for n in names])
    log = device.log[device.log.index("refresh 0") :]
    calls = [entry.split()[0] for entry in log if entry.split()[0] in names]
    orders = {tuple(calls[i : i + 4]) for i in range(0, len(calls), 4)}
    assert len(orders) > 4


def test_it_stops_when_ratios_have_settled_and_goes_on_while_they_have_not() -> None:
    steady, restless, turn = Clockwork(), Clockwork(), iter(range(10_000))
    found = timed(steady, [steady.contender(n, lambda: 0.01) for n in (COPY, "a")])
    assert found["a"].calls == RULES.repeats_least
    jumping = [restless.contender(n, lambda: 0.01 * (1 + next(turn) % 5)) for n in (COPY, "a")]
    assert timed(restless, jumping)["a"].calls == RULES.repeats_most


def test_it_stops_when_a_cells_time_is_over() -> None:
    device, turn = Clockwork(), iter(range(10_000))
    rules = Rules(repeats_least=4, repeats_most=1000, seconds_most=0.5, warm_ups=1)
    jumping = [device.contender(n, lambda: 0.01 * (1 + next(turn) % 5)) for n in (COPY, "a")]
    assert 4 <= timed(device, jumping, rules)["a"].calls < 30


def test_a_time_below_what_a_copy_needs_is_refused() -> None:
    device = Clockwork()
    times = {COPY: 0.010, "honest": 0.0099, "impossible": 0.0090}
    found = timed(device, [device.contender(n, lambda n=n: times[n]) for n in times])
    assert "faster than a copy" in found["impossible"].refused
    assert found["honest"].refused == found[COPY].refused == ""


def test_events_that_exceed_the_hosts_clock_are_refused() -> None:
    device = Clockwork()
    device.lie = 2.0
    found = timed(device, [device.contender(n, lambda: 0.01) for n in (COPY, "a")])
    assert "do not agree" in found["a"].refused


def test_without_a_copy_nothing_is_measured() -> None:
    device = Clockwork()
    with pytest.raises(ValueError, match="copy"):
        timed(device, [device.contender("a", lambda: 0.01)])
