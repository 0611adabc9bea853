"""Turns notes about kernels into findings that a report may show.

Notes come from the learner's process: in a hidden case their text could carry hidden inputs, so
only the kind, the lines and the types of arguments are kept there, and the text is the judge's, or
the compiler's if the learner wrote the source exactly as it was compiled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from gpu_worker.cupy_cpu.executor import Diagnostic, argument_words, cause_rank
from gpu_worker.judge.cases.case import Case, describe
from gpu_worker.judge.report import reporting
from gpu_worker.judge.verdict.kernel_faults import ARGUMENT_REMEDIES, MEANINGS
from gpu_worker.judge.verdict.notes import DiagnosticNote, Noted
from gpu_worker.messages.protocol import Finding
from gpu_worker.sandbox.inside.building import BuildRequest

MAX_FINDINGS: Final = 12
MAX_NOTES: Final = 500
"""Far more than an honest run has that differ: finding the line of each takes milliseconds."""
_SEVERITIES: Final = ("error", "warning", "note")
_ARGUMENT: Final = re.compile(r"For argument \d+\b")
_WORD: Final = re.compile(r"\w+")
_EXPRESSION: Final = re.compile(r"[\w:<>,* ]{1,200}")
_OWN_NAMES: Final = frozenset({"kernel", "reduce_kernel"})
"""How the stand-in for CuPy names kernels that their authors give no name."""
_MOST_ARGUMENTS: Final = 64
_REFUSED: Final = "On a device this kernel's source does not compile."


def findings(
    source: str,
    requests: Mapping[int, BuildRequest],
    built: Mapping[int, Sequence[Mapping[str, object]]],
    noted: Sequence[Noted],
    cases: Sequence[Case],
) -> list[Finding]:
    """Return a run's findings, those of different cases one by one: see `merged`.

    `requests` and `built` are the run's builds and what the compiler found in them.
    """
    finder = _LineFinder(source)
    return list(_of_launches(finder, requests, built, noted, cases))


def merged(found: Sequence[Finding]) -> list[Finding]:
    """Return each kind at each line once, whatever the instance of a template: the worst first,
    causes before effects.

    What is about an argument of a launch is kept for each argument. The judge's own words, which
    name none, add nothing to what is as bad and was told of an argument.
    """
    kept: dict[tuple[str, int | None, str], dict[str, int]] = {}
    order = sorted(found, key=_rank)
    for place, item in enumerate(order):
        name = item.kernel.partition("<")[0]
        same = kept.setdefault((item.kind, item.line or item.kernel_line, name), {})
        about = _ARGUMENT.match(item.message)
        if about or not same:
            same.setdefault(about[0] if about else "", place)
    chosen = sorted(place for same in kept.values() for place in same.values())
    return [order[place] for place in chosen[:MAX_FINDINGS]]


def of_devices_compiler(
    source: str, request: BuildRequest, refusals: Sequence[Diagnostic]
) -> list[Finding]:
    """Return as warnings what NVIDIA's compiler says against a build that ran here.

    What was made up while the program ran could carry hidden inputs: no words of it then.
    """
    finder = _LineFinder(source)
    own = finder.wrote(request)
    return [
        Finding(
            kind=str(item.kind),
            severity="warning",
            kernel=item.kernel[:200],
            line=finder.line(request.source, item.line) if item.line else None,
            kernel_line=item.line,
            message=reporting.clean_text(item.message if own else _REFUSED)[:4_000],
        )
        for item in refusals
    ]


def shown_names(source: str) -> Callable[[str], str]:
    """Return what gives a kernel's name, as far as its words stand in the learner's file.

    Names are made while the program runs: a number in one could be a hidden input's.
    """
    return _LineFinder(source).name


def wrote(source: str, request: BuildRequest) -> bool:
    """Tell whether a build is of CUDA source that stands in the learner's file as it is."""
    return _LineFinder(source).wrote(request)


def _of_launches(
    finder: _LineFinder,
    requests: Mapping[int, BuildRequest],
    built: Mapping[int, Sequence[Mapping[str, object]]],
    noted: Sequence[Noted],
    cases: Sequence[Case],
) -> Iterator[Finding]:
    public = all(case.public for case in cases)
    for note, number in _different(noted):
        where = describe(cases[number]) if number < len(cases) else ""
        request = requests.get(note.build)
        words = reporting.clean_text(note.message)[:4_000] if public else finder.on_arguments(note)
        if request and finder.wrote(request):
            # Source that the program put together as it ran could carry hidden inputs.
            words = _compilers_words(note, built.get(note.build, ())) or words
        yield _finding(finder, request, note, words, where)


def _different(noted: Sequence[Noted]) -> list[tuple[DiagnosticNote, int]]:
    """Return each note once, with the number of its first case: the worst, if they are too many."""
    first: dict[DiagnosticNote, int] = {}
    for item in noted:
        for note in item.notes.diagnostics:
            if note.kind in MEANINGS and note.severity in _SEVERITIES:
                first.setdefault(note, item.case)
    return [(note, first[note]) for note in sorted(first, key=_rank)[:MAX_NOTES]]


def _rank(found: DiagnosticNote | Finding) -> tuple[int, int]:
    """Return how bad it is: the least for errors, and causes before effects."""
    return _SEVERITIES.index(found.severity), cause_rank(found.kind)


def _compilers_words(note: DiagnosticNote, built: Sequence[Mapping[str, object]]) -> str:
    """Return what the compiler itself said of this, empty if it said nothing."""
    for fields in built:
        if (fields["kind"], fields["line"]) == (note.kind, note.line):
            return reporting.clean_text(str(fields["message"]))[:4_000]
    return ""


def _finding(
    finder: _LineFinder,
    request: BuildRequest | None,
    note: DiagnosticNote,
    words: str,
    case: str,
) -> Finding:
    line = finder.line(request.source, note.line) if request and note.line else None
    lines = request.source.count("\n") + 1 if request else 0
    return Finding(
        kind=note.kind,
        severity=note.severity,  # type: ignore[arg-type]
        kernel=finder.name(note.kernel),
        line=line,
        kernel_line=note.line if note.line and 1 <= note.line <= lines else None,
        message=words or MEANINGS[note.kind],
        case=case[:4_000],
    )


class _LineFinder:
    """Finds the learner's own line for a line of CUDA source, and his own words in a name."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._lines = [line.strip() for line in source.splitlines()]
        self._words = _OWN_NAMES.union(_WORD.findall(source))
        self._spaced = " ".join(source.split())

    def wrote(self, request: BuildRequest) -> bool:
        """True if a build's source stands in the learner's file, and all words of its options and
        names: the compiler repeats what it is given.
        """
        given = " ".join((*request.options, *request.names))
        stands = bool(request.source) and request.source in self._source
        return stands and self._words.issuperset(_WORD.findall(given))

    def name(self, kernel: str) -> str:
        """Return a kernel's name expression, without its arguments if a word is not in the file."""
        for name in (kernel, kernel.partition("<")[0]):
            if _EXPRESSION.fullmatch(name) and self._words.issuperset(_WORD.findall(name)):
                return name
        return ""

    def on_arguments(self, note: DiagnosticNote) -> str:
        """Return what is wrong with the arguments of a launch, without a word that could be made up
        from hidden inputs; empty where that is not what was found.
        """
        about, remedy = note.arguments, ARGUMENT_REMEDIES.get(note.kind)
        if about is None or remedy is None:
            return ""
        if note.kind == "argument-count":
            listed = about.listed if about.listed in self._spaced else ""
            few = min(about.given, _MOST_ARGUMENTS), min(about.count, _MOST_ARGUMENTS)
            return f"{argument_words.about_count(*few, listed)}. {remedy}"
        types = (about.passed, about.taken)
        if not all(map(argument_words.is_known_form, types)):
            return ""
        name = about.name if about.name in self._words else ""
        number = min(about.argument, _MOST_ARGUMENTS)
        return f"{argument_words.about_argument(number, name, *types)}. {remedy}"

    def line(self, kernel: str, number: int) -> int | None:
        """Return the line (from 1) of the file that line `number` of the kernel's source is.

        None where it is not there, as in source that is put together while the program runs, or
        where it could be several.
        """
        lines = [line.strip() for line in kernel.splitlines()]
        if not 1 <= number <= len(lines) or not lines[number - 1]:
            return None
        # The stand-in puts a semicolon after the learner's expression.
        wanted = lines[number - 1].rstrip("; ") or lines[number - 1]
        places = [at for at, line in enumerate(self._lines) if wanted in line]
        if not places:
            return None
        scores = [self._agreement(lines, number - 1, at) for at in places]
        best = max(scores)
        found = [at for at, score in zip(places, scores, strict=True) if score == best]
        return found[0] + 1 if len(found) == 1 else None

    def _agreement(self, lines: Sequence[str], at: int, place: int) -> int:
        """Return how many lines about both places are the same, going out from them."""
        count = 0
        for step in (-1, 1):
            offset = step
            while (
                0 <= at + offset < len(lines)
                and 0 <= place + offset < len(self._lines)
                and lines[at + offset] in self._lines[place + offset]
            ):
                count += bool(lines[at + offset])
                offset += step
        return count
