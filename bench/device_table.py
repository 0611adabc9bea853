"""Make the page and the picture of a device's measurements: `python -m bench.device_table`.

Both come from `bench/results/device.json` alone. Where there is none the page says so, and there
is no picture.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from bench.on_device import page, plot
from bench.on_device.writing import RESULTS

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "reference" / "device.md"
PICTURE: Final = ROOT / "docs" / "images" / "device.svg"


def read(path: Path = RESULTS) -> dict[str, Any] | None:
    """Return what was measured, None where nothing was."""
    if not path.is_file():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def make(results: dict[str, Any] | None, where: Path = PAGE, picture: Path = PICTURE) -> None:
    """Write the page; write the picture, or remove one of results that are no longer there."""
    where.write_text(page.render(results), encoding="utf-8")
    if results is None:
        picture.unlink(missing_ok=True)
    else:
        picture.write_text(plot.render(results), encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Run the command; its one option is --help."""
    argparse.ArgumentParser(prog="python -m bench.device_table", description=__doc__).parse_args(
        arguments
    )
    measured = read()
    make(measured)
    state = "not yet run on a device" if measured is None else measured["device"]["name"]
    print(f"{PAGE.relative_to(ROOT)}: {state}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
