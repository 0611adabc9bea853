"""The stored programs of a usual run represent all of them."""

from __future__ import annotations

import pytest

from gpu_worker.exercises import get, slugs
from gpu_worker.exercises.stored import KINDS, Stored, stored
from gpu_worker.messages.protocol import Track
from gpu_worker.tests.kinds import each_or_long, facets, named_by_stored_programs, one_of_each
from gpu_worker.tests.test_mistakes import variants


def every(kind: str, track: Track) -> list[Stored]:
    return [item for slug in slugs() for item in stored(get(slug), kind, track)]  # type: ignore[arg-type]


@pytest.mark.parametrize("track", [Track.NUMPY, Track.CUPY])
@pytest.mark.parametrize("kind", KINDS)
def test_a_usual_run_covers_every_outcome_mistake_and_finding(kind: str, track: Track) -> None:
    items = every(kind, track)
    usual = [param.values[0] for param in each_or_long(items) if not param.marks]
    assert 0 < len(usual) < len(items)
    assert set().union(*map(facets, usual)) == set().union(*map(facets, items))


def test_no_program_in_a_usual_run_is_redundant() -> None:
    chosen = one_of_each(every("wrong", Track.NUMPY))
    seen: set[object] = set()
    for item in chosen:
        assert facets(item) - seen
        seen |= facets(item)


def test_a_release_run_takes_all_programs() -> None:
    items = every("wrong", Track.CUPY)
    assert [param.id for param in each_or_long(items)] == [item.id for item in items]


def test_every_known_mistake_of_every_exercise_is_named_in_a_usual_run() -> None:
    played = {(p.values[0], p.values[1].id) for p in variants() if not p.marks}
    with_variants = {(p.values[0], p.values[1].id) for p in variants()}
    assert played | named_by_stored_programs() >= with_variants
