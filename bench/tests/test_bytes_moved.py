"""The chapter "Make It Fast" says what the executor counts: tables, formulas, listing, programs."""

from __future__ import annotations

import json
import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench import bytes_moved, results

CHAPTER = (
    Path(__file__).parents[2] / "courses" / "library" / "learn-ml-from-scratch" / "make-it-fast"
)
STORED = json.loads((results.FOLDER / "bytes_moved.json").read_text(encoding="utf-8"))["rows"]
ITEM = 4
COMPARED = {
    "array expressions": ("array expressions", "array expressions"),
    "a kernel for each reduction, one for the output": (
        "a kernel for each reduction",
        "two kernels",
    ),
    "one kernel, x read for each reduction and the output": (
        "one kernel, x read for each reduction",
        "one kernel, x read twice",
    ),
    "one kernel, both statistics in one sweep": (
        "one kernel, both statistics in one sweep",
        "one kernel, x read twice",
    ),
    "one kernel, row in registers": (
        "one kernel, row in registers",
        "one kernel, row in registers",
    ),
}
"""A line of the comparison of both norms, and the programs of LayerNorm and RMSNorm it is about."""


@pytest.fixture(scope="module")
def chapter() -> Any:
    return yaml.safe_load((CHAPTER / "chapter.yaml").read_text(encoding="utf-8"))


def body(chapter: Any, key: str) -> str:
    (found,) = (step["body"] for step in chapter["mechanism"] if step["key"] == key)
    return str(found)


def rounded(times: Decimal) -> str:
    return str(times.quantize(Decimal("0.01"), ROUND_HALF_UP))


def times(name: str) -> Decimal:
    rows, dim = STORED[name]["shape"]
    moved = STORED[name]["read"] + STORED[name]["written"]
    return Decimal(moved) / Decimal(ITEM * rows * dim)


def test_a_fresh_count_gives_what_is_stored(tmp_path: Path) -> None:
    assert bytes_moved.measure(tmp_path)["rows"] == STORED


def test_the_tables_hold_the_counts(chapter: Any) -> None:
    table = body(chapter, "counted")
    for name, row in STORED.items():
        kind, label = name.split(": ", 1)
        if kind == "LayerNorm":
            continue
        cells = (
            label,
            rounded(times(name)),
            row["launches"],
            f"{row['read']:,}",
            f"{row['written']:,}",
        )
        assert f"| {' | '.join(map(str, cells))} |\n" in table


def test_the_comparison_of_the_norms_holds_the_counts(chapter: Any) -> None:
    table = body(chapter, "one-reduction-less")
    assert {f"LayerNorm: {one}" for one, _ in COMPARED.values()} <= STORED.keys()
    for label, (one, other) in COMPARED.items():
        layernorm, rmsnorm = times(f"LayerNorm: {one}"), times(f"forward: {other}")
        saved = (100 * (1 - rmsnorm / layernorm)).quantize(Decimal(1), ROUND_HALF_UP)
        line = f"| {label} | {rounded(layernorm)} | {rounded(rmsnorm)} | {saved}% |\n"
        assert line in table


def test_the_derived_formulas_give_the_counts() -> None:
    def moved(name: str) -> int:
        return int(STORED[name]["read"] + STORED[name]["written"])

    rows, dim = STORED["forward: two kernels"]["shape"]
    x, row, column = ITEM * rows * dim, ITEM * dim, ITEM * rows
    assert moved("forward: array expressions") == 7 * x + row + 6 * column
    assert moved("forward: two kernels") == 3 * x + row + 2 * column
    assert moved("forward: one kernel, x read twice") == 3 * x + row
    assert moved("forward: one kernel, row in registers") == 2 * x + row
    assert moved("forward: the same, 16 bytes at a time") == 2 * x + row

    rows, dim = STORED["backward: array expressions"]["shape"]
    x, row, column = ITEM * rows * dim, ITEM * dim, ITEM * rows
    assert moved("backward: array expressions") == 19 * x + 2 * row + 4 * column
    for blocks, parts in ((rows, "each row"), (rows // 8, "each block of rows")):
        (name,) = (name for name in STORED if name.startswith("backward") and parts in name)
        assert moved(name) == 3 * x + column + 2 * blocks * row + 2 * row


def test_the_listing_counts_as_the_executor_does() -> None:
    printed = (CHAPTER / "count_bytes.py.out").read_text(encoding="utf-8")
    for name in (
        "forward: array expressions",
        "LayerNorm: array expressions",
        "backward: array expressions",
    ):
        row = STORED[name]
        numbers = (
            rf"{row['launches']} +{row['read']:,} +{row['written']:,} +{rounded(times(name))}\n"
        )
        assert re.search(numbers, printed), name


def test_programs_that_the_text_quotes_are_those_that_are_counted(chapter: Any) -> None:
    programs = [item.path.read_text(encoding="utf-8") for item in bytes_moved.PROGRAMS.values()]
    flat = ["\n".join(line.strip() for line in text.splitlines()) for text in programs]
    texts = [chapter["intuition"], *(step["body"] for step in chapter["mechanism"])]
    quoted = [
        code for text in texts for code in re.findall(r"```\w+\n(.*?)```", text, flags=re.DOTALL)
    ]
    assert len(quoted) >= 6
    for code in quoted:
        lines = "\n".join(line.strip() for line in code.splitlines())
        assert any(lines in text for text in flat), code
