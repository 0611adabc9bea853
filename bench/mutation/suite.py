"""Runs the tests of a tier on a copy of the project until one of them fails."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.mutation.contained import OUT_OF_TIME

TIERS: Final[dict[str, tuple[str, ...]]] = {
    "quick": (
        *("--hypothesis-profile=fewer", "--quick"),
        *("-m", "not long and not browser and not services"),
    ),
    "usual": ("--hypothesis-profile=fewer", "-m", "not long"),
    "long": ("--hypothesis-profile=full",),
}
"""The options of `./run test quick`, `./run test` and `./run test --long`."""

FIRST_FILES: Final = 12
_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (\S+?(?:\[.*?\])?)(?: - .*)?$", re.MULTILINE)
_CONTAINED: Final = Path(__file__).with_name("contained.py")
_PASSED: Final = (0, 5)
"""All did, or none was asked for."""
NO_TEST: Final = "no test"
"""In place of the name of one, where pytest could not collect them."""


@dataclass(frozen=True)
class Ran:
    """`failed` names tests; `timed_out` where they did not end in time."""

    failed: tuple[str, ...]
    timed_out: bool
    seconds: float


class Suite:
    """The tests of a project's copy in `root`, run by the `python` of its environment."""

    def __init__(self, root: Path, tier: str, minutes: float) -> None:
        self.root = root
        self.options = TIERS[tier]
        self._minutes = minutes

    def run(self, arguments: Sequence[str]) -> Ran:
        """Run pytest until the first failure; `NO_TEST` fails where it cannot even begin."""
        begun = time.monotonic()
        command = [
            *(sys.executable, "-I", str(_CONTAINED), str(60 * self._minutes)),
            *(".venv-test/bin/python", "-m", "pytest", "-x", "-q", "-rfE", "--tb=no"),
            *("-p", "no:cacheprovider", "-n", "2", "--dist", "loadfile"),
            *("--no-loadscope-reorder", *self.options, *arguments),
        ]
        done = subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False)
        timed_out = done.returncode == OUT_OF_TIME
        failed = tuple(_FAILED.findall(done.stdout))
        if not failed and not timed_out and done.returncode not in _PASSED:
            failed = (NO_TEST,)
        return Ran(failed, timed_out, round(time.monotonic() - begun, 1))


def likely_first(root: Path, path: str) -> list[str]:
    """Return the test files that most likely see a change of a module, the likeliest first.

    Those that name the module count most, then those with words of its name in theirs; of equal
    ones, those that were recorded as shorter.
    """
    durations = root / "tests" / "durations.json"
    seconds = json.loads(durations.read_text(encoding="utf-8")) if durations.exists() else {}
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    package, _, leaf = module.rpartition(".")
    imported = re.compile(
        rf"\b{re.escape(module)}\b|from {re.escape(package)} import [^\n]*\b{re.escape(leaf)}\b"
    )
    scores: dict[str, float] = {}
    for test in _test_files(root):
        text = (root / test).read_text(encoding="utf-8")
        words = set(re.split(r"[/_.]", test))
        score = 10.0 * bool(imported.search(text)) + 5.0 * (leaf in words)
        score += 3.0 * len(words & set(leaf.split("_"))) + 2.0 * (f"{package}." in text)
        score += 1.0 * (test.split("/")[0] == path.split("/")[0])
        scores[test] = score
    return sorted(scores, key=lambda test: (-scores[test], seconds.get(test, 0.0), test))[
        :FIRST_FILES
    ]


def _test_files(root: Path) -> Iterable[str]:
    for folder in ("tests", "bench", "gpu_worker", "courses", "grader", "learnml"):
        for path in sorted((root / folder).rglob("test_*.py")):
            if "node_modules" not in path.parts:
                yield path.relative_to(root).as_posix()
