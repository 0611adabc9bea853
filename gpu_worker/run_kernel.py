"""Run a program with CuPy kernels on a machine without a GPU, and report diagnostics and counts.

python -m gpu_worker.run_kernel FILE [--json] [ARGUMENT ...]

The program runs as with `python FILE ARGUMENT ...`, in this process and with this account's
rights: use it for your own code. `import cupy` gives the stand-in of the CuPy track. First comes
what the program prints; then, for each kernel, what is wrong at which line of its source, and what
its launches did. With --json only that goes to standard output, and what the program prints to
standard error. After `--` all arguments are the program's.
The exit code is 0 if nothing is wrong, 1 if something is or the program fails, 2 if it cannot be
run: there is no such file, or it is not Python.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import runpy
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import gpu_worker.cupy_cpu
from gpu_worker.cuda_cpu import resources
from gpu_worker.cupy_cpu import host
from gpu_worker.cupy_cpu.executor.defects import Defect, Severity
from gpu_worker.cupy_cpu.executor.diagnostics import Diagnostic
from gpu_worker.judge.kernels.registers import SMALL, in_numbers
from gpu_worker.judge.running.builds import LocalBuilder

EXIT_CLEAN: Final = 0
EXIT_FOUND: Final = 1
EXIT_UNUSABLE: Final = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the module says what it returns."""
    options = _options(arguments)
    unusable = _unusable(options.file)
    if unusable:
        sys.stderr.write(f"{unusable}\n")
        return EXIT_UNUSABLE
    builder = LocalBuilder()
    host.connect(builder)
    with _printed_as_errors() if options.json else contextlib.nullcontext():
        failure = _run(options.file, options.arguments)
    notes = host.take_notes()
    if refused := list(_refused(notes, builder)):
        notes = {**notes, "diagnostics": [*notes.get("diagnostics", ()), *refused]}
    if options.json:
        sys.stdout.write(json.dumps({"error": failure, **notes}, indent=2) + "\n")
    else:
        sys.stdout.write("\n".join(readable(failure, notes)) + "\n")
    wrong = any(item["severity"] != "note" for item in notes.get("diagnostics", ()))
    return EXIT_FOUND if wrong or failure else EXIT_CLEAN


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m gpu_worker.run_kernel",
        usage="%(prog)s FILE [--json] [ARGUMENT ...]",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print findings and counts as JSON")
    parser.add_argument("file", type=Path, help="the Python program to run")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program is given")
    options = parser.parse_args(arguments)
    if options.arguments[:1] == ["--json"]:
        options.json = True
        del options.arguments[0]
    if options.arguments[:1] == ["--"]:
        del options.arguments[0]
    return options


def _unusable(file: Path) -> str:
    """Return why a file cannot be run, empty if it can."""
    if not file.is_file():
        return f"There is no file {file}."
    try:
        compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError) as error:
        return f"{file} cannot be run: {error}"
    return ""


@contextlib.contextmanager
def _printed_as_errors() -> Iterator[None]:
    """Send what the program prints, by whatever means, to the standard error meanwhile."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _run(file: Path, arguments: Sequence[str]) -> str:
    """Run the program with the stand-in for CuPy; return its error, empty if it had none."""
    host.take_notes()
    folder = str(file.resolve().parent)
    sys.modules["cupy"] = gpu_worker.cupy_cpu
    outside, sys.argv = sys.argv, [str(file), *arguments]
    sys.path.insert(0, folder)
    try:
        runpy.run_path(str(file), run_name="__main__")
    except SystemExit as error:
        return f"SystemExit: {error.code}" if error.code else ""
    except Exception as error:  # noqa: BLE001  the program's own, told to its author
        return _shown(error, file)
    finally:
        sys.argv = outside
        with contextlib.suppress(ValueError):
            sys.path.remove(folder)
    return ""


def _refused(notes: Mapping[str, Any], builder: LocalBuilder) -> Iterator[dict[str, Any]]:
    """Yield what says that a launch takes more registers than a block has, as NVIDIA's compiler
    counts them; nothing where it is not installed.
    """
    for kernel in notes.get("kernels", ()):
        threads, name = math.prod(kernel["block"]), kernel["name"]
        if threads <= SMALL or kernel["generated"]:
            continue
        source, options, names = builder.requests[kernel["build"]]
        needs = resources(source, options, (name,) if name in names else names)
        if message := in_numbers(threads, needs.get(name, {}).get("registers", 0)):
            yield Diagnostic(Defect.LAUNCH_SIZE, Severity.ERROR, name, None, message).as_dict()


def _shown(error: Exception, file: Path) -> str:
    """Return an error with the lines of the program, and of files beside it, that led to it."""
    folder = file.resolve().parent
    places = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == str(file):
            places += f"  line {frame.lineno}: {frame.line}\n"
        elif Path(frame.filename).parent == folder:
            places += f"  {Path(frame.filename).name}, line {frame.lineno}: {frame.line}\n"
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
    if not found and not failure:
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
