"""Attacks on the sandbox: none succeeds, and each would without the layer that stops it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gpu_worker.sandbox.inside.layers import landlock
from gpu_worker.sandbox.zygote import ZygoteProcess
from gpu_worker.tests.attack_table import BEGIN, END, PAGE, with_table
from gpu_worker.tests.containment import (
    LAYERS,
    Attack,
    attacks,
    gets_through,
    gets_through_unprotected,
    runs,
    setups,
    single_layers,
)
from gpu_worker.tests.targets import Targets

REACHING = [attack for attack in attacks() if attack.reaches]
LAYERED = [attack for attack in REACHING if attack.alone]
ALWAYS = [attack for attack in REACHING if attack.always]


def by_name(attack: Attack) -> str:
    return attack.name


@pytest.fixture(scope="module")
def targets() -> Iterator[Targets]:
    with Targets() as targets:
        yield targets


class Zygotes:
    """One zygote for each setup, started when first needed."""

    def __init__(self) -> None:
        self._made: dict[object, ZygoteProcess] = {}

    def __getitem__(self, setup: object) -> ZygoteProcess:
        if setup not in self._made:
            self._made[setup] = ZygoteProcess(setup)  # type: ignore[arg-type]
        return self._made[setup]

    def close(self) -> None:
        for zygote in self._made.values():
            zygote.close()


@pytest.fixture(scope="module")
def zygotes() -> Iterator[Zygotes]:
    zygotes = Zygotes()
    yield zygotes
    zygotes.close()


@pytest.mark.parametrize(("name", "attack"), runs(), ids=str)
def test_no_attack_succeeds(name: str, attack: Attack, zygotes: Zygotes, targets: Targets) -> None:
    setup = setups()[name]
    found = gets_through(attack, zygotes[setup], targets)
    if attack.stopped_at(setup):
        assert found == ""
    else:
        # Documented: a wall that is missing at this level.
        assert attack.residual
        assert found
        assert not setup.bubblewrap


@pytest.mark.parametrize("attack", LAYERED, ids=by_name)
@pytest.mark.parametrize("layer", ["", *LAYERS])
def test_each_layer_alone_stops_exactly_what_it_claims_to_stop(
    attack: Attack, layer: str, zygotes: Zygotes, targets: Targets
) -> None:
    found = gets_through(attack, zygotes[single_layers()[layer]], targets)
    if attack.stopped_by(layer, landlock.version()):
        assert found == ""
    else:
        # The positive control: without the layers that stop it, it works.
        assert found
        assert "broken" not in found


@pytest.mark.parametrize("attack", ALWAYS, ids=by_name)
def test_attacks_that_are_always_stopped_succeed_in_a_plain_process(
    attack: Attack, targets: Targets
) -> None:
    assert gets_through_unprotected(attack, targets)


def test_attack_numbers_are_unique_and_attacks_many() -> None:
    numbers = [attack.number for attack in attacks()]
    assert len(set(numbers)) == len(numbers)
    assert len(numbers) >= 60


def test_the_page_on_the_sandbox_has_the_current_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert BEGIN in page
    assert END in page
    assert with_table(page) == page, "run python -m gpu_worker.tests.attack_table"
