"""The output printed under a listing is what the listing prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.content import PROJECT

LISTINGS = sorted(
    path.with_suffix("") for path in (PROJECT / "courses" / "library").rglob("*.py.out")
)


def test_there_are_listings() -> None:
    assert LISTINGS


@pytest.mark.parametrize("listing", LISTINGS, ids=lambda path: path.name)
def test_a_listing_prints_what_the_page_says(listing: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", str(listing)], capture_output=True, check=True, timeout=180
    )
    assert done.stderr == b""
    assert done.stdout == listing.with_name(f"{listing.name}.out").read_bytes()
