"""Run a program with CuPy kernels on a machine without a GPU, and tell what was found and counted.

python -m gpu_worker.run_kernel FILE [--json]

The program is run as a script, in this process and with this account's rights: it is for one's own
code. `import cupy` gives the stand-in of the CuPy track. What the program prints comes first; then,
for each kernel, what is wrong with it at which line of its source, and what its last launch did.
Ends with 0 if nothing is wrong, 1 if something is, 2 if the program cannot be run.
"""

from __future__ import annotations

import argparse
import json
import runpy
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import gpu_worker.cupy_cpu
from gpu_worker.cupy_cpu import host

EXIT_CLEAN: Final = 0
EXIT_FOUND: Final = 1
EXIT_UNUSABLE: Final = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the module says what it returns."""
    options = _parser().parse_args(arguments)
    if not options.file.is_file():
        sys.stderr.write(f"There is no file {options.file}.\n")
        return EXIT_UNUSABLE
    failure = _run(options.file)
    notes = host.take_notes()
    if options.json:
        sys.stdout.write(json.dumps({"error": failure, **notes}, indent=2) + "\n")
    else:
        sys.stdout.write("\n".join(readable(failure, notes)) + "\n")
    wrong = any(item["severity"] != "note" for item in notes.get("diagnostics", ()))
    return EXIT_FOUND if wrong or failure else EXIT_CLEAN


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m gpu_worker.run_kernel",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, help="the Python program to run")
    parser.add_argument("--json", action="store_true", help="print findings and counts as JSON")
    return parser


def _run(file: Path) -> str:
    """Run the program with the stand-in for CuPy; return its error, empty if it had none."""
    sys.modules["cupy"] = gpu_worker.cupy_cpu
    host.take_notes()
    try:
        runpy.run_path(str(file), run_name="__main__")
    except SystemExit as error:
        return "" if not error.code else f"The program ended with {error.code}."
    except Exception as error:  # noqa: BLE001  the program's own, told to its author
        return _shown(error, file)
    return ""


def _shown(error: Exception, file: Path) -> str:
    """Return an error with the lines of the program that led to it."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)]
    places = "".join(f"  line {f.lineno}: {f.line}\n" for f in frames)
    return f"{type(error).__name__}: {error}\n{places}".rstrip()


def readable(failure: str, notes: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the report: the program's error, findings, kernels, sums."""
    if failure:
        yield f"The program stopped: {failure}"
    found = notes.get("diagnostics", ())
    for item in found:
        line = f", line {item['line']} of its source" if item["line"] else ""
        kernel = f" in {item['kernel']}" if item["kernel"] else ""
        yield f"{item['severity']}: {item['kind']}{kernel}{line}"
        yield f"  {item['message']}"
    if not found:
        yield "Nothing wrong was found in the kernels."
    for kernel in notes.get("kernels", ()):
        yield from _kernel(kernel)
    counts = notes.get("counts")
    if counts:
        yield (
            f"in all: {counts['launches']} launches, {counts['bytes_read']:,} bytes read, "
            f"{counts['bytes_written']:,} written"
        )


def _kernel(kernel: Mapping[str, Any]) -> Iterator[str]:
    counters = kernel["counters"]
    yield (
        f"{kernel['name']}: {kernel['launches']} launches, grid {tuple(kernel['grid'])}, block "
        f"{tuple(kernel['block'])}, {counters['barriers']} barriers"
    )
    for array in counters["arrays"]:
        yield (
            f"  {array['label']}: {array['nbytes']:,} bytes, read {array['bytes_read']:,}, "
            f"written {array['bytes_written']:,}"
        )
    for access in counters["accesses"]:
        yield from _access(access)


def _access(access: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line where a warp's accesses fall apart."""
    what = "writes" if access["write"] else "reads"
    if access["space"] == "global" and access["sectors"] > access["ideal_sectors"]:
        yield (
            f"  line {access['line']}: {what} {access['sectors']} sectors of 32 bytes where "
            f"{access['ideal_sectors']} would do: neighbouring threads should use neighbouring "
            "elements"
        )
    if access["bank_conflicts"]:
        yield (
            f"  line {access['line']}: {what} of shared memory meet in the same bank "
            f"{access['bank_conflicts']} times in {access['requests']} requests"
        )


if __name__ == "__main__":
    sys.exit(main())
