"""Many gradings, round by round, on all cores, kept as they come and taken up where they ended."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import gpu_worker
from gpu_worker.sandbox.client import Zygote

Work = tuple[str, str]
"""An exercise's slug and the name of one of its submissions."""
Grade = Callable[[str, str, Zygote], dict[str, Any]]

_CODE = frozenset({".py", ".cu", ".cpp", ".h", ".inc", ".ld"})

_zygotes: list[Zygote] = []


class Rounds:
    """The results of whole rounds over all of the work, of this very code."""

    def __init__(self, name: str) -> None:
        self.code = code_sha256()
        self.complete = 0
        folder = os.environ.get("LEARNML_BENCH_FOLDER") or tempfile.gettempdir()
        self._file = Path(folder, f"learnml-bench-{name}-{self.code[:16]}.jsonl")
        self._done: dict[tuple[int, str, str], dict[str, Any]] = {}
        self._work: Sequence[Work] = ()
        if self._file.exists():
            # What a run was killed over in the middle of writing has no end: it is done again.
            whole, _, _ = self._file.read_text(encoding="utf-8").rpartition("\n")
            self._file.write_text(f"{whole}\n" if whole else "", encoding="utf-8")
            for line in whole.splitlines():
                number, slug, stem, result = json.loads(line)
                self._done[number, slug, stem] = result

    def run(self, work: Sequence[Work], count: int, grade: Grade) -> None:
        """Do up to `count` rounds, at least one; those that are kept are not done again."""
        self._work = work
        deadline = time.monotonic() + seconds_allowed()
        with ProcessPoolExecutor(os.cpu_count(), initializer=_start) as pool:
            took = 0.0
            for number in range(count):
                begun = time.monotonic()
                if number and begun + took > deadline:
                    break
                self._one_round(number, grade, pool)
                took = time.monotonic() - begun or took
                self.complete = number + 1

    def _one_round(self, number: int, grade: Grade, pool: ProcessPoolExecutor) -> None:
        left = [item for item in self._work if (number, *item) not in self._done]
        jobs = [(item, pool.submit(_grade, grade, *item)) for item in left]
        with self._file.open("a", encoding="utf-8") as file:
            for item, job in jobs:
                result = job.result()
                self._done[(number, *item)] = result
                file.write(json.dumps([number, *item, result]) + "\n")
                file.flush()

    def results(self, slug: str) -> list[dict[str, Any]]:
        """Return an exercise's results in all rounds that are complete."""
        return [
            self._done[number, *item]
            for number in range(self.complete)
            for item in self._work
            if item[0] == slug
        ]


def seconds_allowed() -> float:
    """Return for how long something new may be begun, from `LEARNML_BENCH_MINUTES`."""
    return 60 * float(os.environ.get("LEARNML_BENCH_MINUTES") or "inf")


def in_time(seeds: Iterable[int]) -> Iterator[int]:
    """Yield the first seed, and more as long as it is allowed to begin something new."""
    deadline = time.monotonic() + seconds_allowed()
    for number, seed in enumerate(seeds):
        if number and time.monotonic() > deadline:
            return
        yield seed


def code_sha256() -> str:
    """Return a hash of the engine's code and submissions, tests left out."""
    found = hashlib.sha256()
    folder = Path(gpu_worker.__file__).parent
    for path in sorted(path for path in folder.rglob("*") if path.suffix in _CODE):
        if "tests" not in path.relative_to(folder).parts:
            found.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def _start() -> None:
    """Start this process's zygote, from its main thread; it ends with the process."""
    _zygotes.append(Zygote())
    _zygotes[0].start()


def _grade(grade: Grade, slug: str, stem: str) -> dict[str, Any]:
    return grade(slug, stem, _zygotes[0])
