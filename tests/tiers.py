"""What each run of the tests takes, and in which order.

`./run test quick`, `./run test` and `./run test --long` differ by marks (see pyproject.toml) and,
for the quick one, by how long each file took when it was last recorded:

    ./run test -n 2 --dist loadfile --record-durations      writes durations.json anew
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import hypothesis
import pytest

PROJECT = Path(__file__).resolve().parent.parent
DURATIONS = Path(__file__).with_name("durations.json")

TOGETHER = ("tests/e2e/", "tests/faults/")
"""Folders whose files share a platform. It takes seconds to start, and a part of a core while it
runs: all of a folder's files go to one process."""

QUICK_SECONDS = 4.0
"""A file that took longer is not part of `./run test quick`."""

UNKNOWN_SECONDS = 2.0
"""For a file that has not been recorded yet."""


def recorded() -> dict[str, float]:
    """Return how many seconds each test file took, by its path in the project."""
    found: dict[str, float] = json.loads(DURATIONS.read_text(encoding="utf-8"))
    return found


def group(path: str) -> str:
    """Return what goes to one process: a test file, or a folder of those that share a platform."""
    return next((folder for folder in TOGETHER if path.startswith(folder)), path)


def longest_first(paths: Iterable[str], seconds: Mapping[str, float]) -> list[str]:
    """Return the paths of files by the seconds of their group, so that none is left for the end.

    Files of equal groups stay in the order given.
    """
    paths = list(dict.fromkeys(paths))
    totals: defaultdict[str, float] = defaultdict(float)
    for path in paths:
        totals[group(path)] += seconds.get(path, UNKNOWN_SECONDS)
    return sorted(paths, key=lambda path: -totals[group(path)])


def examples(usual: int) -> int:
    """Return how many examples Hypothesis draws where `usual` are drawn before a release."""
    full = hypothesis.settings.get_profile("full").max_examples
    return max(1, usual * hypothesis.settings().max_examples // full)


def too_long_for_quick(path: str, seconds: Mapping[str, float]) -> bool:
    return seconds.get(path, UNKNOWN_SECONDS) > QUICK_SECONDS


class Recorder:
    """Adds up what the tests of each file took, in whichever process they ran."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid.partition("::")[0]] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Write what is known now; files that were not run keep what they had."""
        rounded = {path: round(seconds, 1) for path, seconds in self._seconds.items()}
        kept = {path: s for path, s in recorded().items() if (PROJECT / path).exists()}
        text = json.dumps({**kept, **rounded}, indent=0, sort_keys=True)
        DURATIONS.write_text(text + "\n", encoding="utf-8")
