"""The reference page of known mistakes, written from the bank and from what was measured."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from gpu_worker.exercises.bank import KnownMistake
from gpu_worker.exercises.registry import Exercise, get, on_track
from gpu_worker.messages.protocol import Track

MISTAKES_RESULT: Final = "verdicts_mistakes.json"
WRONG_RESULT: Final = "verdicts_wrong.json"

_INTRODUCTION: Final = """\
# Known mistakes

What is often got wrong, and how a report names it. This page is written from the exercises'
`mistakes` and from measurements, so edit those and run

```
python -m bench verdicts_wrong verdicts_mistakes
python -m gpu_worker mistakes --results bench/results --output docs/reference/mistakes.md
```

When a result is wrong, the judge plays each known mistake on the same inputs. One is named if it
explains every result, right and wrong ones alike, within the tolerance. Where none does, pairs that
change different steps are tried, and named if exactly one pair explains everything. Otherwise the
report says that no known mistake explains the results: a name is never a guess.

Where the right formulas explain all results to a few hundred units in the last place, and the
errors go both ways, the report says that digits are lost on the way (`digits-lost`), and not that a
formula is wrong. A variance in one pass is named in whatever order its sums are added up: the rows
that are off are so by one factor each, within what the cancelled sums' rounding can come to.

Exercises of the CuPy track alone borrow the mistakes of the class that they ask for.
"""
_KERNELS: Final = """\
## Sums in kernels

What is looked for on the CuPy track beside, in every exercise with a sum over a row: what threads
take for the row's sum where it is not handed to all of them, and what is left out of it. Each is
tried for blocks of 32, 64, 128, 256, 512 and 1,024 threads, that take one, two or four elements at
once or a piece of the row, for each sum of the class, and for the ways in which such a sum is made:
shuffles down or across, and a tree in shared memory. Of each the first form stands here.

| id | what the report says |
| --- | --- |"""


def mistakes_page(results: Path, slugs: Sequence[str] | None = None) -> str:
    """Return the page in Markdown, of all exercises of the track `numpy` unless others are named.

    `results` is the folder with the measurements.

    Raises:
        OSError, ValueError: a measurement is missing or unreadable.
    """
    lines = [_INTRODUCTION, *_measured(results)]
    for slug in on_track(Track.NUMPY) if slugs is None else slugs:
        lines += ["", *_bank(get(slug))]
    lines += ["", *_of_kernels()]
    return "\n".join(lines) + "\n"


def _measured(results: Path) -> Iterator[str]:
    mistakes = json.loads((results / MISTAKES_RESULT).read_text(encoding="utf-8"))
    wrong = json.loads((results / WRONG_RESULT).read_text(encoding="utf-8"))
    yield "## How often the right name is given"
    yield ""
    yield (
        "Precision: of the names given, how many were made. Recall: of the mistakes made, how many "
        "were named. A mistake that another hides altogether cannot be named."
    )
    yield ""
    columns = (
        "exercise | submissions | tries | all named | some | none | wrong | precision | recall"
    )
    yield f"| {columns} |"
    yield f"|{' --- |' * len(columns.split(' | '))}"
    for slug in on_track(Track.NUMPY):
        if slug not in mistakes:
            continue
        for kind, title in (("single", "one known mistake"), ("pairs", "two known mistakes")):
            yield _row(slug, title, mistakes[slug][kind])
        stored = wrong[slug]["with_an_expected_mistake"]
        right, other = stored.get("right", 0), stored.get("none or wrong", 0)
        yield (
            f"| {slug} | stored wrong submissions with a name to find | {right + other} | {right} "
            f"| | {other} | | | {right / max(1, right + other):.4f} |"
        )


def _row(slug: str, title: str, counts: dict[str, Any]) -> str:
    cells = [
        slug,
        title,
        *(counts[name] for name in ("tries", "all_named", "some_named", "none_named")),
        counts["wrongly_named"],
        f"{counts['precision']:.4f}",
        f"{counts['recall']:.4f}",
    ]
    return f"| {' | '.join(map(str, cells))} |"


def _bank(exercise: Exercise) -> Iterator[str]:
    known = exercise.known_mistakes()
    yield f"## {exercise.title}"
    yield ""
    yield f"{len({mistake.id for mistake in known})} mistakes in {len(known)} forms."
    yield ""
    yield "| id | what the report says | step | formula | line | test |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for mistake in known:
        ids = (mistake.step, mistake.formula, mistake.line, mistake.test)
        cells = " | ".join(f"`{name}`" if name else "" for name in ids)
        yield f"| `{mistake.id}` | {_text(mistake)} | {cells} |"


def _of_kernels() -> Iterator[str]:
    """Yield the section on kernels, with the first form of each mistake."""
    yield from _KERNELS.splitlines()
    known: dict[str, KnownMistake] = {}
    for slug in on_track(Track.CUPY):
        for mistake in get(slug).kernel_mistakes():
            known.setdefault(mistake.id, mistake)
    for mistake in known.values():
        yield f"| `{mistake.id}` | {_text(mistake)} |"


def _text(mistake: KnownMistake) -> str:
    return mistake.explanation.replace("|", "\\|").replace("*", "\\*")
