"""The glossary is one list in order, and what it names is there."""

from __future__ import annotations

import re

import pytest

from tests.platform.instance import PROJECT

GLOSSARY = PROJECT / "docs" / "reference" / "glossary.md"
TABLE = GLOSSARY.read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \| \[`([^`]+)`\]\(([^)]+)\) \|$", TABLE, re.MULTILINE)


@pytest.mark.parametrize(("term", "meaning", "path", "target"), ROWS, ids=[row[0] for row in ROWS])
def test_a_term_has_one_sentence_and_lives_somewhere(
    term: str, meaning: str, path: str, target: str
) -> None:
    assert meaning.endswith(".")
    assert (PROJECT / path).is_file(), f"{term} is said to live in {path}: move the row too."
    assert (GLOSSARY.parent / target).resolve() == PROJECT / path


def test_each_term_stands_once_and_in_order() -> None:
    terms = [row[0] for row in ROWS]
    assert len(terms) == len(set(terms)) >= 60
    for part in TABLE.split("\n## ")[1:]:
        listed = re.findall(r"^\| ([^|]+) \| [^|]+ \| \[", part, re.MULTILINE)
        assert len(listed) > 3
        assert listed == sorted(listed, key=str.lower)


def test_every_row_of_the_glossary_is_read_by_these_tests() -> None:
    rows = [line for line in TABLE.splitlines() if line.startswith("|")]
    headings = 2 * TABLE.count("\n## ")
    assert len(rows) == len(ROWS) + headings
