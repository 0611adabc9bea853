"""Run the measurements named on the command line, or all of them."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bench import (
    bytes_moved,
    cupy_verdicts,
    grading,
    kernels_registers,
    lighthouse,
    numpy_references,
    pages,
    sandbox,
    start,
    verdicts,
    visits,
)
from bench.results import write

MEASUREMENTS = {
    "start": start.measure,
    "grading": grading.measure,
    "sandbox": sandbox.measure,
    "pages": pages.measure,
    "visits": visits.measure,
    "lighthouse": lighthouse.measure,
    "numpy_references": numpy_references.measure,
    "kernels_registers": kernels_registers.measure,
    "bytes_moved": bytes_moved.measure,
    "cupy_verdicts": cupy_verdicts.measure,
    "cupy_times": cupy_verdicts.measure_times,
    "verdicts_honest": verdicts.measure_honest,
    "verdicts_wrong": verdicts.measure_wrong,
    "verdicts_mistakes": verdicts.measure_mistakes,
}


def main(names: list[str]) -> int:
    unknown = set(names) - set(MEASUREMENTS)
    if unknown:
        print(f"Unknown: {', '.join(sorted(unknown))}. There are: {', '.join(MEASUREMENTS)}.")
        return 2
    for name in names or list(MEASUREMENTS):
        with tempfile.TemporaryDirectory(prefix="learnml-bench-") as folder:
            print(write(name, MEASUREMENTS[name](Path(folder))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
