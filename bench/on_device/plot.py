"""The picture of a device's measurements: share of a copy's bandwidth over D, as SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

from bench.on_device.page import TITLES, contenders
from bench.on_device.plan import DIRECTIONS, DTYPES, EXERCISES

PANEL: Final = (250, 170)
MARGIN: Final = (46, 34)
GAP: Final = 26
TOP: Final = 64
LARGEST_SHARE: Final = 1.1
SMALLEST_DIM, LARGEST_DIM = 128, 65_536
# By lightness as well as by hue, with a mark each: told apart in grey and by the colour-blind.
COLOURS: Final = ("#0b6e4f", "#b3541e", "#3f51b5", "#9c27b0", "#8a6d00", "#455a64")
MARKS: Final = ("circle", "square", "diamond", "triangle", "cross", "circle")
_STYLE: Final = (
    "text{font:11px system-ui,sans-serif;fill:#222}.t{font-weight:600}.g{stroke:#ccc}"
    ".f{fill:none;stroke:#777}.l{fill:none;stroke-width:1.6}"
    "@media(prefers-color-scheme:dark){text{fill:#eee}.g{stroke:#444}.f{stroke:#999}"
    ".l,.m{filter:brightness(1.7)}}"
)


def render(results: Mapping[str, Any]) -> str:
    """Return the picture: a panel for each dtype in columns, exercise and direction in rows."""
    times, names = results["times"], contenders(results["times"])
    rows = [(exercise, direction) for exercise in EXERCISES for direction in DIRECTIONS]
    width = len(DTYPES) * (PANEL[0] + MARGIN[0] + GAP) + GAP
    height = TOP + len(rows) * (PANEL[1] + MARGIN[1] + GAP)
    title = f"Share of a device copy's bandwidth on {results['device']['name']}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(title)}">',
        f"<style>{_STYLE}</style>",
        f'<text class="t" x="{GAP}" y="20">{escape(title)}</text>',
        *_legend(names),
    ]
    for row, (exercise, direction) in enumerate(rows):
        for column, dtype in enumerate(DTYPES):
            x = GAP + MARGIN[0] + column * (PANEL[0] + MARGIN[0] + GAP)
            y = TOP + 16 + row * (PANEL[1] + MARGIN[1] + GAP)
            wanted = {"exercise": exercise, "direction": direction, "dtype": dtype}
            cells = [cell for cell in times if wanted.items() <= cell.items()]
            parts.append(f'<g transform="translate({x},{y})">')
            parts.append(f'<text class="t" y="-6">{TITLES[exercise]}, {direction}, {dtype}</text>')
            parts += _axes() + _lines(sorted(cells, key=lambda cell: cell["dim"]), names)
            parts.append("</g>")
    return "\n".join([*parts, "</svg>"]) + "\n"


def place(dim: int, share: float) -> tuple[float, float]:
    """Return where a point lies in its panel; shares above the largest lie at the top."""
    along = math.log2(dim / SMALLEST_DIM) / math.log2(LARGEST_DIM / SMALLEST_DIM)
    up = min(max(share, 0.0), LARGEST_SHARE) / LARGEST_SHARE
    return round(along * PANEL[0], 1), round((1 - up) * PANEL[1], 1)


def _legend(names: Sequence[str]) -> list[str]:
    parts, x = [], float(GAP)
    for number, name in enumerate(names):
        parts.append(_mark(number, x + 5, 40))
        parts.append(f'<text x="{x + 15:.0f}" y="44">{escape(name)}</text>')
        x += 40 + 6.5 * len(name)
    return parts


def _axes() -> list[str]:
    parts = [f'<rect class="f" width="{PANEL[0]}" height="{PANEL[1]}"/>']
    for percent in (0, 25, 50, 75, 100):
        _, y = place(SMALLEST_DIM, percent / 100)
        parts.append(f'<line class="g" x2="{PANEL[0]}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text x="-6" y="{y + 4:.1f}" text-anchor="end">{percent} %</text>')
    for dim in (128, 512, 2048, 8192, 32768):
        x, _ = place(dim, 0)
        label = f"{dim // 1024}K" if dim >= 1024 else str(dim)
        parts.append(f'<text x="{x}" y="{PANEL[1] + 15}" text-anchor="middle">{label}</text>')
    parts.append(
        f'<text x="{PANEL[0] / 2}" y="{PANEL[1] + 29}" text-anchor="middle">length of a row, D'
        "</text>"
    )
    return parts


def _lines(cells: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    parts = []
    for number, name in enumerate(names):
        points = [
            place(cell["dim"], cell["times"][name]["of_copy"])
            for cell in cells
            if name in cell["times"] and not cell["times"][name]["refused"]
        ]
        if len(points) > 1:
            path = " ".join(f"{x},{y}" for x, y in points)
            colour = COLOURS[number % len(COLOURS)]
            parts.append(f'<polyline class="l" stroke="{colour}" points="{path}"/>')
        parts += [_mark(number, x, y) for x, y in points]
    return parts


def _mark(number: int, x: float, y: float) -> str:
    colour, mark = COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)]
    if mark == "circle":
        return f'<circle class="m" cx="{x}" cy="{y}" r="3.5" fill="{colour}"/>'
    outlines = {
        "square": ((-3, -3), (3, -3), (3, 3), (-3, 3)),
        "diamond": ((0, -4.5), (4.5, 0), (0, 4.5), (-4.5, 0)),
        "triangle": ((0, -4.5), (4, 3), (-4, 3)),
        "cross": ((-4, -2), (-2, -4), (0, -2), (2, -4), (4, -2), (2, 0), (4, 2), (2, 4), (0, 2),
                  (-2, 4), (-4, 2), (-2, 0)),
    }  # fmt: skip
    path = " ".join(f"{x + dx:g},{y + dy:g}" for dx, dy in outlines[mark])
    return f'<polygon class="m" points="{path}" fill="{colour}"/>'
