"""The changelog has a dated section for the version that the code says it is."""

from __future__ import annotations

import re
from datetime import date

from packaging.version import Version

from learnml import __version__
from tests.platform.instance import PROJECT

HEADING = re.compile(r"^## \[([^]]+)\](?: - (\S+))?$", re.MULTILINE)


def headings() -> list[tuple[str, str]]:
    """Return versions and dates in the order in which they stand."""
    return HEADING.findall((PROJECT / "CHANGELOG.md").read_text(encoding="utf-8"))


def test_the_newest_version_is_that_of_the_code() -> None:
    released = [version for version, _ in headings() if version != "Unreleased"]
    assert released[0] == __version__


def test_versions_and_their_dates_fall() -> None:
    assert headings()[0] == ("Unreleased", "")
    released = [(Version(version), date.fromisoformat(day)) for version, day in headings()[1:]]
    assert released == sorted(released, reverse=True)
    assert len({version for version, _ in released}) == len(released)


def test_every_second_level_heading_is_a_version() -> None:
    text = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert len(re.findall("^## ", text, re.MULTILINE)) == len(headings())


def test_its_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", (PROJECT / "CHANGELOG.md").read_text("utf-8")):
        assert "://" in target or (PROJECT / target).exists(), target
