"""Writes the reference page of what pages cost, from the measurements in `bench/results`.

python -m bench.pages_table > docs/reference/pages.md
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

RESULTS: Final = Path(__file__).with_name("results")
INTRODUCTION: Final = """\
# What pages cost

Written by `python -m bench.pages_table` from `bench/results/visits.json`, `lighthouse.json` and
`pages.json`, which `python -m bench visits lighthouse pages` measures anew. The limits are kept by
`tests/e2e/test_budgets.py`, which also runs axe on every page in both themes and refuses shifts of
0.02, reports of the content security policy, and requests to other hosts. A chapter takes at most
five queries, whatever its size.
"""
VISITS: Final = """\
## A first visit

With nothing kept from before, scrolled to the end; kB with headers. LCP is when the largest piece
stood there on a processor slowed four times; CLS is the sum of layout shifts.
"""
LIGHTHOUSE: Final = """\
## Lighthouse

Scores of 100 for a phone on slow 4G, the median of three runs by the score for performance. TBT is
for how long the page could not answer.
"""
RATES: Final = """\
## Requests per second

Two gunicorn processes, eight connections, client and servers on the same two cores: compare the
rows. The bare view is a Django view that returns a template of 30 kB.
"""


def table(head: str, rows: list[list[Any]]) -> str:
    """Return a Markdown table."""
    lines = [head, "|" + " --- |" * (head.count("|") - 1)]
    return "\n".join([*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


def page() -> str:
    """Return the page in Markdown."""
    visits, lighthouse, rates = (
        json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))["rows"]
        for name in ("visits", "lighthouse", "pages")
    )
    seen = table(
        "| page | kB | at most | requests | at most | LCP, ms | CLS |",
        [
            [
                name,
                *(row["kilobytes"], row["budget_kilobytes"], row["requests"]),
                *(row["budget_requests"], row["largest_contentful_paint_ms"]),
                row["cumulative_layout_shift"],
            ]
            for name, row in visits.items()
        ],
    )
    rated = table(
        "| page | performance | accessibility | best practices | SEO | LCP, ms | TBT, ms |",
        [
            [
                name,
                *(row[key] for key in ("performance", "accessibility", "best-practices", "seo")),
                round(row["largest_contentful_paint_ms"]),
                round(row["total_blocking_time_ms"]),
            ]
            for name, row in lighthouse.items()
        ],
    )
    served = table(
        "| page | requests per second | of the bare view |",
        [
            [name, round(row["requests_per_second"]), f"{row['of_bare_view']:.0%}"]
            for name, row in rates.items()
        ],
    )
    return "\n".join([INTRODUCTION, VISITS, seen, "", LIGHTHOUSE, rated, "", RATES, served, ""])


if __name__ == "__main__":
    sys.stdout.write(page())
