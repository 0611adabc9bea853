"""Chooses which of the many stored programs represent the others in a usual run of the tests."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import pytest

from gpu_worker.exercises import get, on_track
from gpu_worker.exercises.stored import Stored, stored
from gpu_worker.messages.protocol import Track

LONG = pytest.mark.long("Other stored programs have the same outcome, mistakes and findings.")


def facets(item: Stored) -> set[Hashable]:
    """Return what a program's header expects, each expectation by itself.

    An exercise has its own way to each outcome; what is named or found is the same everywhere.
    """
    return {
        *((item.slug, item.kind, outcome) for outcome in item.outcomes),
        (item.slug, item.kind, item.diagnosis),
        *(("mistake", mistake) for mistake in item.mistakes),
        *(("finding", finding) for finding in item.findings),
        *(("catalogue", number) for number in item.catalogue),
    }


def one_of_each(items: Sequence[Stored]) -> list[Stored]:
    """Return few of the programs that have all facets of all: the one with most new ones next."""
    missing = set().union(*(facets(item) for item in items))
    chosen: list[Stored] = []
    while missing:
        best = max(items, key=lambda item: len(facets(item) & missing))
        chosen.append(best)
        missing -= facets(best)
    return chosen


def each_or_long(items: Sequence[Stored]) -> list[Any]:
    """Return all programs as parameters, those marked `long` whose facets others have."""
    chosen = {item.id for item in one_of_each(items)}
    return [
        pytest.param(item, id=item.id, marks=() if item.id in chosen else LONG) for item in items
    ]


def named_by_stored_programs() -> set[tuple[str, str]]:
    """Return exercise and mistake of each that a usual run has a NumPy program graded for."""
    wrong = [item for slug in on_track(Track.NUMPY) for item in stored(get(slug), "wrong")]
    return {(item.slug, mistake) for item in one_of_each(wrong) for mistake in item.mistakes}
