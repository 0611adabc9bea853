"""The commands `draw`, `run TIER` and `report`."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from bench.mutation.places import GROUNDS, Mutant, draw, places
from bench.mutation.suite import NO_TEST, TIERS, Ran, Suite, likely_first
from bench.results import FOLDER, write

ROOT: Final = Path(__file__).resolve().parents[2]
NAME: Final = "mutation"
SECONDS: Final = itertools.count(int(time.time()))
RunTests = Callable[[Sequence[str]], Ran]


def found_by(
    run: RunTests, mutate: Callable[[bool], None], rounds: Sequence[Sequence[str]]
) -> dict[str, Any]:
    """Return which test sees a mutant, if one does: `mutate` puts it into the code, or out.

    A round is what pytest is told to run: the likely files first, then everything, which is an
    empty one. A failure counts if the test fails again, and does not without the mutant; a test
    that fails by itself is left out of what follows.

    Raises:
        RuntimeError: the tests cannot be collected without the mutant either.
    """
    left_out: list[str] = []
    seconds = 0.0
    for chosen in rounds:
        while True:
            mutate(True)
            ran = run([*(f"--deselect={test}" for test in left_out), *chosen])
            seconds += ran.seconds
            if ran.timed_out:
                return {"caught": True, "by": "the time limit", "seconds": round(seconds, 1)}
            if not ran.failed:
                break
            test = ran.failed[0]
            only = ["--collect-only", *chosen] if test == NO_TEST else [test]
            again = run(only)
            mutate(False)
            without = run(only)
            if again.failed and not without.failed:
                return {"caught": True, "by": test, "seconds": round(seconds, 1)}
            if test == NO_TEST:
                raise RuntimeError(f"The tests cannot be collected: {' '.join(only)}")
            left_out.append(test)
    return {"caught": False, "by": "", "flaky": left_out, "seconds": round(seconds, 1)}


@contextmanager
def copy_of(revision: str) -> Iterator[Path]:
    """Check a revision out into a temporary folder, with this project's environments."""
    with tempfile.TemporaryDirectory(prefix="learnml-mutation-") as folder:
        copy = Path(folder) / "project"
        git("worktree", "add", "--quiet", "--detach", str(copy), revision)
        try:
            for name in (".venv", ".venv-test"):
                if (ROOT / name).exists():
                    (copy / name).symlink_to((ROOT / name).resolve())
            yield copy
        finally:
            git("worktree", "remove", "--force", str(copy))


def git(*arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(
        command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()


def draw_all(count: int, seed: int) -> dict[str, Any]:
    mutants = [
        {**mutant.as_dict(), "tiers": {}}
        for ground in GROUNDS
        for mutant in draw(ROOT, places(ROOT, ground), count, seed)
    ]
    return {"revision": git("rev-parse", "HEAD"), "seed": seed, "mutants": mutants}


def run_tier(
    data: dict[str, Any], tier: str, at_most: int, minutes: float, likely_only: bool = False
) -> None:
    """Try the mutants that this tier has not seen; what is found is kept after each.

    What `usual` has caught, `long` catches: it runs the same tests and more.
    """
    with copy_of(data["revision"]) as copy:
        suite = Suite(copy, tier, minutes)
        for entry in data["mutants"]:
            seen = entry["tiers"]
            if tier in seen or at_most == 0:
                continue
            if tier == "long" and seen.get("usual", {}).get("caught"):
                seen[tier] = seen["usual"]
                continue
            at_most -= 1
            mutant = Mutant(**{key: value for key, value in entry.items() if key != "tiers"})
            file = copy / mutant.path
            source = file.read_text(encoding="utf-8")
            changed = mutant.applied(source)

            def mutate(
                there: bool, file: Path = file, source: str = source, changed: str = changed
            ) -> None:
                file.write_text(changed if there else source, encoding="utf-8")
                # Python compiles anew what is of another second: no two of these are of one.
                os.utime(file, (next(SECONDS),) * 2)

            likely = likely_first(copy, mutant.path)
            try:
                found = found_by(suite.run, mutate, [likely] if likely_only else [likely, []])
            finally:
                mutate(False)
            print(f"{mutant.id}: {found}", flush=True)
            if found["caught"] or not likely_only:
                seen[tier] = found
                write(NAME, data)
    write(NAME, data)


def report(data: dict[str, Any]) -> str:
    """Return the share caught by each tier, by ground and rule, and what nobody saw."""
    counts: dict[tuple[str, str, str], list[bool]] = defaultdict(list)
    unseen = []
    for entry in data["mutants"]:
        for tier, found in entry["tiers"].items():
            for rule in (entry["rule"], "all"):
                counts[tier, entry["ground"], rule].append(found["caught"])
            if not found["caught"]:
                place = f"{entry['path']}:{entry['line']}"
                unseen.append(f"{tier}: {place}: {entry['was']!r} -> {entry['becomes']!r}")
    lines = [f"revision {data['revision'][:12]}, seed {data['seed']}"]
    lines += [
        f"{tier}, {ground}, {rule}: {sum(caught)} of {len(caught)}, {sum(caught) / len(caught):.0%}"
        for (tier, ground, rule), caught in sorted(counts.items())
    ]
    return "\n".join([*lines, *sorted(unseen)])


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.mutation", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("--count", type=int, default=40, help="places of each ground")
    drawing.add_argument("--seed", type=int, default=1)
    running = commands.add_parser("run")
    running.add_argument("tier", choices=TIERS)
    running.add_argument("--at-most", type=int, default=-1, help="mutants in this run")
    running.add_argument("--minutes", type=float, default=60.0, help="for one run of the tests")
    running.add_argument(
        "--likely-only", action="store_true", help="run few test files; keep only what they catch"
    )
    commands.add_parser("report")
    options = parser.parse_args(arguments)
    if options.command == "draw":
        data = draw_all(options.count, options.seed)
        write(NAME, data)
        print(f"Drawn: {len(data['mutants'])} mutants of {data['revision'][:12]}")
        return 0
    data = json.loads((FOLDER / f"{NAME}.json").read_text(encoding="utf-8"))
    if options.command == "run":
        run_tier(data, options.tier, options.at_most, options.minutes, options.likely_only)
    print(report(data))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
