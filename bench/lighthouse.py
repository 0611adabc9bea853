"""Lighthouse's four scores for the pages a newcomer meets, as it rates them for a phone.

Needs `npx` (Node 20 or later) and the registry of packages: a developer's measurement, no test.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from conftest import CHROMIUM
from tests.platform.instance import Instance

LIGHTHOUSE = "lighthouse@13.5.0"
# The median of so many runs by the score for performance, which a busy machine pulls down.
RUNS = 3
# Now and then the browser's trace lacks its beginning, above all on a busy machine.
ATTEMPTS = 3
PAGES = {
    "home": "/",
    "chapter": "/courses/learn-ml-from-scratch/deep-neural-representations/",
    "exercise": "/exercises/rmsnorm/",
}
METRICS = {
    "first_contentful_paint_ms": "first-contentful-paint",
    "largest_contentful_paint_ms": "largest-contentful-paint",
    "total_blocking_time_ms": "total-blocking-time",
    "cumulative_layout_shift": "cumulative-layout-shift",
}


def measure(folder: Path) -> dict[str, Any]:
    """Rate each page on a platform of its own; scores are of 100."""
    npx = shutil.which("npx")
    if npx is None:
        raise SystemExit("npx is missing. Install Node: apt-get install nodejs npm.")
    instance = Instance(folder / "data")
    try:
        instance.start().wait_until_ready()
        rows = {name: rate(npx, instance.base_url + path) for name, path in PAGES.items()}
    finally:
        instance.end()
    return {
        "unit": "score of 100; times in ms",
        "lighthouse": LIGHTHOUSE,
        "device": "Lighthouse's default: a phone, processor slowed 4 times, slow 4G",
        "rows": rows,
    }


def rate(npx: str, url: str) -> dict[str, Any]:
    """Return the scores and metrics of the median of `RUNS` runs."""
    results = sorted((one_run(npx, url) for _ in range(RUNS)), key=performance)
    return summed_up(results[RUNS // 2])


def performance(result: dict[str, Any]) -> float:
    return float(result["categories"]["performance"]["score"] or 0)


def one_run(npx: str, url: str) -> dict[str, Any]:
    """Return Lighthouse's result; a run that it could not finish itself is made again."""
    for _ in range(ATTEMPTS):
        # To a file: what it prints to a pipe may be cut off when it ends.
        with tempfile.NamedTemporaryFile(suffix=".json") as report:
            finished = subprocess.run(
                [
                    *(npx, "--yes", LIGHTHOUSE, url, "--quiet"),
                    *("--output=json", f"--output-path={report.name}"),
                    "--chrome-flags=--headless=new --no-sandbox",
                ],
                env={**os.environ, "CHROME_PATH": CHROMIUM},
                capture_output=True,
                check=False,
                timeout=300,
            )
            result = dict(json.loads(report.read() or "{}"))
        if finished.returncode == 0 and result and "runtimeError" not in result:
            return result
    raise SystemExit(f"Lighthouse fails on {url}:\n{finished.stderr.decode()[-2000:]}")


def summed_up(result: dict[str, Any]) -> dict[str, Any]:
    scores = {
        name: round(100 * (category["score"] or 0))
        for name, category in result["categories"].items()
    }
    metrics = {
        name: round(float(result["audits"][audit]["numericValue"]), 4)
        for name, audit in METRICS.items()
    }
    return {**scores, **metrics}
