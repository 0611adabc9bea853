"""The engine from the command line: grade a file, or write the page of known mistakes.

python -m gpu_worker grade FILE --exercise rmsnorm [--track cupy]
python -m gpu_worker mistakes --results FOLDER [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from gpu_worker.exercises import UnknownExerciseError, get, slugs
from gpu_worker.exercises.mistakes_page import mistakes_page
from gpu_worker.judge import Graded, Options, grade_source
from gpu_worker.messages.protocol import Finding, Outcome, Report, WorstCase
from gpu_worker.sandbox.client import SandboxError

EXIT_ACCEPTED = 0
EXIT_NOT_ACCEPTED = 1
EXIT_UNUSABLE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns 0 if accepted or written, 1 if not accepted, 2 if not possible."""
    options = _parser().parse_args(arguments)
    if options.command == "mistakes":
        return _write_mistakes(options.results, options.output)
    return _grade(options)


def _grade(options: argparse.Namespace) -> int:
    try:
        source = options.file.read_bytes().decode("utf-8")
        graded = grade_source(
            options.exercise,
            options.track or get(options.exercise).tracks[0],
            source,
            Options(cases="public" if options.public else "all", seed=options.seed),
        )
    except (OSError, UnicodeDecodeError, UnknownExerciseError, LookupError, SandboxError) as error:
        sys.stderr.write(f"Cannot grade {options.file}: {error}\n")
        return EXIT_UNUSABLE
    if options.json:
        data = {"outcome": graded.outcome, "score": graded.score}
        sys.stdout.write(json.dumps({**data, "report": graded.report.to_message()}, indent=2))
        sys.stdout.write("\n")
    else:
        sys.stdout.write("\n".join(readable(graded)) + "\n")
    return EXIT_ACCEPTED if graded.outcome is Outcome.ACCEPTED else EXIT_NOT_ACCEPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gpu_worker", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    grade = commands.add_parser("grade", help="grade one file and print the report")
    grade.add_argument("file", type=Path, help="the Python file to grade")
    grade.add_argument("--exercise", required=True, choices=slugs())
    grade.add_argument(
        "--track",
        help="numpy or cupy; by default the first that the exercise has, mostly numpy",
    )
    grade.add_argument("--public", action="store_true", help="run the public cases only")
    grade.add_argument(
        "--seed", type=_hexadecimal, help="repeat an earlier grading's cases: its seed, hexadecimal"
    )
    grade.add_argument("--json", action="store_true", help="print the report as JSON")
    mistakes = commands.add_parser("mistakes", help="write the page of known mistakes")
    mistakes.add_argument("--results", type=Path, required=True, help="folder of measurements")
    mistakes.add_argument("--output", type=Path, help="file to write; default: print it")
    return parser


def _hexadecimal(text: str) -> int:
    if not re.fullmatch(r"[0-9a-fA-F]+", text):
        raise argparse.ArgumentTypeError(f"invalid hexadecimal number: {text!r}")
    return int(text, 16)


def _write_mistakes(results: Path, output: Path | None) -> int:
    try:
        page = mistakes_page(results)
        if output:
            output.write_text(page, encoding="utf-8")
        else:
            sys.stdout.write(page)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"Cannot write the page: {error}\n")
        return EXIT_UNUSABLE
    return EXIT_ACCEPTED


def readable(graded: Graded) -> Iterator[str]:
    """Yield the lines of a report for people."""
    report = graded.report
    how = f" ({report.execution})" if report.execution else ""
    yield f"{graded.outcome.replace('_', ' ')}, score {graded.score:.0%}{how}"
    for group in report.groups:
        state = {True: "passed", False: "failed", None: "not run"}[group.passed]
        counts = f"{group.cases_passed}/{group.cases}"
        yield f"  {state:8} {counts:>7}  {group.weight:4.0%}  {group.title}"
    yield from _failure(report)
    if report.worst:
        yield from _worst(report.worst)
    for mistake in report.mistakes:
        yield f"known mistake: {mistake.explanation}"
    for finding in report.findings:
        yield _finding(finding)
    yield from report.notes
    if report.output:
        yield "output:"
        yield from (f"  {line}" for line in report.output.splitlines())
    if report.output_dropped_bytes:
        yield f"  ({report.output_dropped_bytes} bytes more were not kept)"
    yield "time: " + ", ".join(f"{t.phase} {t.ms:.0f} ms" for t in report.timings)
    if report.receipt:
        yield f"seed {report.receipt.seed}, isolation {report.receipt.isolation}"


def _failure(report: Report) -> Iterator[str]:
    failure = report.failure
    if failure is None:
        return
    place = f" (line {failure.line} of your file)" if failure.line else ""
    yield failure.message + place
    if failure.limit:
        yield f"  limit {failure.limit}, measured {failure.measured}"
    yield from (f"  {line}" for line in failure.traceback.splitlines())


def _finding(finding: Finding) -> str:
    kernel = f" of {finding.kernel}" if finding.kernel else ""
    places = [
        f"line {finding.kernel_line}{kernel}" if finding.kernel_line else finding.kernel,
        f"line {finding.line} of your file" if finding.line else "",
    ]
    where = ", ".join(place for place in places if place)
    return f"{finding.severity}, {finding.kind}{f' ({where})' if where else ''}: {finding.message}"


def _worst(worst: WorstCase) -> Iterator[str]:
    error = "not finite" if worst.units is None else f"{worst.units:.3g} units"
    eps = "" if worst.eps is None else f", eps {worst.eps:g}"
    title = "first wrong result" if worst.failed else "largest error"
    yield (
        f"{title}: {worst.quantity}{worst.index} in {worst.family}, shape {tuple(worst.shape)}, "
        f"{worst.dtype}, {worst.layout}{eps}"
    )
    yield f"  expected {worst.expected}, got {worst.got}: {error}, allowed {worst.limit:.3g}"


if __name__ == "__main__":
    sys.exit(main())
