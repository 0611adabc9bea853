"""The page and the picture of a device's results, from results that are invented here."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from bench import device_table
from bench.on_device import page, plot
from bench.on_device.plan import DIMS

SVG = "{http://www.w3.org/2000/svg}"


def measured(of_copy: float, refused: str = "") -> dict[str, Any]:
    return {"calls": 12, "ms": 1.0, "ms_spread": 0.1, "of_copy": of_copy, "of_copy_spread": 0.011,
            "refused": refused}  # fmt: skip


@pytest.fixture
def results() -> dict[str, Any]:
    times = [
        {
            **{"exercise": "rmsnorm", "direction": "forward", "dtype": "float32", "rows": 9},
            **{"dim": dim, "least_bytes": 1, "failed": {"Liger": "OutOfMemory: none"},
               "inexact": {"quick": 2.5}},
            "times": {"copy": measured(1.0), "fused": measured(0.931),
                      "quick": measured(1.4, "faster than a copy")},
            "copy_gigabytes_per_second": 4321.0,
        }
        for dim in DIMS
    ]  # fmt: skip
    right = {"cases": 7, "of": 9, "failed": 1, "failures": ["a wrong case"], "kernels": ["k"]}
    program = {"results": 3, "identical": 2, "differences": ["no"]}
    return {
        "device": {"name": "Invented <device>", "compute_capability": "0.0", "multiprocessors": 1,
                   "memory_bytes": 2**30, "driver": "0", "runtime": "0", "cupy": "0"},
        "python": "3", "packages": {"numpy": "2"}, "began_at": "now", "seconds": 1.0, "seed": 5,
        "correctness": right, "agreement": {"programs": {"p": program}, "agree": False},
        "times": times, "left_out": ["torch: not installed"],
    }  # fmt: skip


def test_the_page_says_what_was_measured_refused_failed_and_left_out(
    results: dict[str, Any],
) -> None:
    text = page.render(results)
    assert "| 4,096 | 9 | 4,321 | 93.1% ± 1.1% | refused |" in text
    rows = [line for line in text.splitlines() if line.startswith("| ") and "4,321" in line]
    assert [row.split("|")[1].strip() for row in rows] == [f"{d:,}" for d in sorted(DIMS)]
    for part in ("7 of 9 cases", "**1 outside", "does not agree", "a wrong case",
                 "Liger, rmsnorm forward float32 D 128: OutOfMemory: none",
                 "torch: not installed", "D 128: off by 2.5 times",
                 "refused, faster than a copy"):  # fmt: skip
        assert part in text
    assert "### LayerNorm" not in text


def test_the_picture_shows_each_contender_that_was_not_refused(results: dict[str, Any]) -> None:
    root = ElementTree.fromstring(plot.render(results))  # noqa: S314  made here
    lines = root.findall(f".//{SVG}polyline")
    assert len(lines) == 1
    points = [tuple(map(float, p.split(","))) for p in lines[0].attrib["points"].split()]
    assert points == [plot.place(dim, 0.931) for dim in sorted(DIMS)]
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert {"fused", "quick", "RMSNorm, forward, float32"} <= set(texts)
    assert "Invented <device>" in (texts[0] or "")


def test_points_lie_where_their_axes_say() -> None:
    assert plot.place(128, 0) == (0, plot.PANEL[1])
    assert plot.place(65_536, plot.LARGEST_SHARE) == (plot.PANEL[0], 0)
    assert plot.place(128, 5.0)[1] == 0


def test_without_results_the_page_gives_no_figure_and_there_is_no_picture(tmp_path: Path) -> None:
    where, picture = tmp_path / "device.md", tmp_path / "device.svg"
    picture.write_text("old")
    device_table.make(None, where, picture)
    assert "Not yet run on a device" in where.read_text()
    assert "%" not in where.read_text()
    assert not picture.exists()


def test_the_page_in_the_documentation_is_that_of_the_results_there_are() -> None:
    text = device_table.PAGE.read_text(encoding="utf-8")
    assert text == page.render(device_table.read())


def test_help_is_printed_and_nothing_is_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(device_table, "make", lambda results: pytest.fail("it was written"))
    with pytest.raises(SystemExit, match="^0$"):
        device_table.main(["--help"])
    assert "bench/results/device.json" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="^2$"):
        device_table.main(["--out", "x"])
