"""How results are summed up and written: with what they were measured on."""

from __future__ import annotations

import json
import os
import platform
import statistics
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("results")


def summary(values: list[float]) -> dict[str, float]:
    """Return count, smallest, median, 95th percentile and largest of `values`."""
    ordered = sorted(values)
    p95 = (
        statistics.quantiles(ordered, n=20, method="inclusive")[-1]
        if len(ordered) > 1
        else ordered[0]
    )
    return {
        "count": len(ordered),
        "min": round(ordered[0], 4),
        "median": round(statistics.median(ordered), 4),
        "p95": round(p95, 4),
        "max": round(ordered[-1], 4),
    }


def write(name: str, measured: dict[str, Any]) -> str:
    """Write one measurement; return its text."""
    result = {
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "cores": os.cpu_count(),
            "load_before": [round(value, 2) for value in os.getloadavg()],
            "system": platform.platform(),
            "python": platform.python_version(),
        },
        **measured,
    }
    text = json.dumps(result, indent=2) + "\n"
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.json").write_text(text)
    return f"{name}: {text}"
