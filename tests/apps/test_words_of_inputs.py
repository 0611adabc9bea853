"""Whatever inputs the engine can name in a report, the site has words for them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpu_worker import judge
from gpu_worker.exercises import get, slugs
from gpu_worker.judge.cases import casegen, families
from grader.presentation import hints, words

WRITE_IT = "write what it is in {} of grader/presentation/words.py: {}"
NOT_THERE = "the engine has no such {}; take it out of {} of grader/presentation/{}.py: {}"
JUDGE = Path(judge.__file__).parent


def families_by_hand() -> set[str]:
    """Return the families of cases that no plan names: they stand in the judge's own sources."""
    sources = [path.read_text("utf-8") for path in sorted(JUDGE.rglob("*.py"))]
    return {name for source in sources for name in re.findall(r'\bfamily="([^"]+)"', source)}


ALL_FAMILIES = frozenset(families.FAMILIES) | families_by_hand()
ALL_LAYOUTS = frozenset(families.LAYOUTS) | (frozenset(casegen.SEQUENCES) - {"once"})


def test_the_judge_makes_cases_of_its_own() -> None:
    assert {"timed call", "counted call", "many rows"} <= families_by_hand()


@pytest.mark.parametrize("family", sorted(ALL_FAMILIES))
def test_each_family_of_inputs_has_words(family: str) -> None:
    assert family in words.FAMILIES, WRITE_IT.format("FAMILIES", family)


@pytest.mark.parametrize("layout", sorted(ALL_LAYOUTS))
def test_each_layout_and_each_order_of_calls_has_words(layout: str) -> None:
    assert layout in words.LAYOUTS, WRITE_IT.format("LAYOUTS", layout)


def test_there_are_no_words_for_what_the_engine_no_longer_names() -> None:
    former = set(words.FAMILIES) - ALL_FAMILIES
    assert not former, NOT_THERE.format("family", "FAMILIES", "words", former)
    former = set(words.LAYOUTS) - ALL_LAYOUTS
    assert not former, NOT_THERE.format("layout or sequence", "LAYOUTS", "words", former)


def test_hints_are_for_families_and_groups_that_there_are() -> None:
    former = set(hints.FAMILY_HINTS) - ALL_FAMILIES
    assert not former, NOT_THERE.format("family", "FAMILY_HINTS", "hints", former)
    groups = {group.id for slug in slugs() for group in get(slug).groups}
    former = (set(hints.GROUP_HINTS) | hints.FORWARD_GROUPS) - groups
    assert not former, NOT_THERE.format("group", "GROUP_HINTS or FORWARD_GROUPS", "hints", former)


def test_plans_name_what_the_engine_can_draw() -> None:
    drawn = {"drawn", "drawn-long"}
    for slug in slugs():
        for plan in get(slug).plans:
            assert plan.family in ALL_FAMILIES | drawn, f"{slug}: no family {plan.family}"
            assert plan.sequence in casegen.SEQUENCES, f"{slug}: no sequence {plan.sequence}"
            assert plan.layout in ALL_LAYOUTS | drawn, f"{slug}: no layout {plan.layout}"
