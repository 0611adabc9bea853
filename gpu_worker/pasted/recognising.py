"""Finds what was pasted from a source and how its run ended: what, where, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from gpu_worker.messages.protocol import PastedFinding
from gpu_worker.pasted import forms
from gpu_worker.pasted.characters import (
    BIDI,
    SUSPECT,
    Foreign,
    foreign,
    is_keyword_in_disguise,
)
from gpu_worker.pasted.scanning import Lines, pieces
from gpu_worker.unicode_names import named

NOT_PYTHON: Final = frozenset({"SyntaxError", "IndentationError", "TabError"})
"""The exceptions by which Python says that a file is not a program."""
NOT_A_KERNEL: Final = "CompileException"
NO_CLASS: Final = "no class"
MOST_FINDINGS: Final = 12

_BIDI: Final = re.compile(f"[{BIDI}]")
_WORD: Final = re.compile(r"[^\W\d]\w*")
_CAPITAL: Final = re.compile(
    r"[ \t]*(Import|From|Class|Def|Return|For|While|If|Elif|Else|Try|Except|With|Pass)\b"
)
_NOT_CUDA_CODE: Final = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|(?<![\"])\"(?![\"])(?:\\.|[^\"\\\n])*\"(?!\")", re.DOTALL
)
_LINES_NAMED: Final = 5
_REMEDIES: Final = {
    "space": "Write a plain space in its place.",
    "invisible": "It cannot be seen: delete it, or type the line anew.",
    "bidi": "It turns the order in which text is shown: delete it.",
    "control": "Delete it.",
    "quote": "Write {instead} in its place.",
    "backtick": "Markdown marks code by it; Python has no use for it. Delete it.",
    "dash": "Write the minus sign of the keyboard, -.",
    "operator": "Write {instead} in its place.",
    "punctuation": "Write {instead} in its place.",
    "digit": "Write {instead} in its place.",
    "exponent": "Write {instead} in its place.",
    "letter": "Python takes no keyword with it: write {instead}.",
    "character": "Python takes it in texts and comments only.",
}


def recognise(source: str, problem: str = "", line: int | None = None) -> list[PastedFinding]:
    """Return what a source holds because it was pasted, the worst and first first.

    `problem` is the name of the exception that stopped it, `NO_CLASS` if it loaded and is no
    program of the exercise, empty for neither; `line` is where. What Python takes is no finding,
    but for bidirectional controls, which are warned of wherever they stand. Of a source with a
    kernel that does not compile, the texts that hold kernels are looked at.
    """
    found = [_bidi_warning(source)] if _BIDI.search(source) else []
    if problem == NOT_A_KERNEL:
        found = [*_characters(source, _kernels(source)), *found]
    elif problem:
        found = [*_forms(source, problem), *found]
    if problem in NOT_PYTHON and not any(finding.kind in _WHOLE for finding in found):
        found = [*found, *_characters(source, _code(source)), *_indentation(source, problem, line)]
        if any(finding.kind == "fence" for finding in found):
            found = [finding for finding in found if finding.kind != "backtick"]
    order = sorted(found, key=lambda item: (item.severity != "error", item.kind not in _FORMS))
    return order[:MOST_FINDINGS]


_WHOLE: Final = frozenset({"notebook", "document"})
_FORMS: Final = _WHOLE | {"fence", "prompt", "magic", "html", "numbers", "quotation"}


def _finding(
    kind: str, place: tuple[int, int], message: str, *, count: int = 1, severity: str = "error"
) -> PastedFinding:
    return PastedFinding(
        kind=kind,
        severity=severity,  # type: ignore[arg-type]
        line=place[0],
        column=place[1],
        count=count,
        message=message,
    )


def _bidi_warning(source: str) -> PastedFinding:
    lines = Lines(source)
    offsets = [match.start() for match in _BIDI.finditer(source)]
    places = [lines.place(offset) for offset in offsets]
    message = (
        f"{_some(source[offsets[0]], places)}: what is shown there may stand in another order than "
        "what is run. The source shows it marked. Delete it, unless a text needs it."
    )
    return _finding("bidi", places[0], message, count=len(places), severity="warning")


def _some(character: str, places: Sequence[tuple[int, int]]) -> str:
    """Say what stands where: “A no-break space (U+00A0) in line 3, column 1, and 2 more …”."""
    line, column = places[0]
    first = f"{_article(named(character))} in line {line}, column {column}"
    if len(places) == 1:
        return first
    others = sorted({place[0] for place in places[1:]})
    shown = ", ".join(map(str, others[:_LINES_NAMED])) + (" ..." if others[_LINES_NAMED:] else "")
    return f"{first}, and {len(places) - 1} more in line{'s' * (len(others) > 1)} {shown}"


def _article(name: str) -> str:
    return f"{'An' if name[0] in 'aeiou' else 'A'} {name}"


# --- characters -----------------------------------------------------------------------------------
def _characters(source: str, stretches: Iterator[tuple[int, int]]) -> Iterator[PastedFinding]:
    """Yield each foreign character of these stretches of the source once, with its places."""
    lines = Lines(source)
    places: dict[str, list[tuple[int, int]]] = {}
    for start, end in stretches:
        for match in SUSPECT.finditer(source, start, end):
            what = foreign(match[0])
            if what and not _belongs_to_a_name(what, source, match.start()):
                places.setdefault(match[0], []).append(lines.place(match.start()))
    for character, found in sorted(places.items(), key=lambda item: item[1]):
        what = foreign(character)
        if what:
            message = f"{_some(character, found)}. {_remedy(what)}"
            yield _finding(what.kind, found[0], message, count=len(found))


def _code(source: str) -> Iterator[tuple[int, int]]:
    for piece in pieces(source):
        if piece.kind == "code":
            yield piece.start, piece.end


def _kernels(source: str) -> Iterator[tuple[int, int]]:
    """Yield what is code in the texts that hold kernels, between their comments and texts."""
    for piece in pieces(source):
        text = source[piece.start : piece.end]
        if piece.kind != "text" or "__global__" not in text:
            continue
        place = piece.start
        for match in _NOT_CUDA_CODE.finditer(source, piece.start, piece.end):
            yield place, match.start()
            place = match.end()
        yield place, piece.end


def _belongs_to_a_name(what: Foreign, source: str, offset: int) -> bool:
    """Whether Python takes the character, as part of a name."""
    before = source[offset - 1] if offset else ""
    if what.kind == "digit":
        return f"a{source[offset]}".isidentifier() and before.isidentifier()
    if what.kind != "letter":
        return False
    start = offset
    while start and f"a{source[start - 1]}".isidentifier():
        start -= 1
        if offset - start > 20:
            return True
    word = _WORD.match(source, start)
    return word is None or not is_keyword_in_disguise(word[0])


def _remedy(what: Foreign) -> str:
    return _REMEDIES[what.kind].format(instead=what.instead)


# --- indentation and capitals ---------------------------------------------------------------------
def _indentation(source: str, problem: str, line: int | None) -> Iterator[PastedFinding]:
    lines, is_code = forms.all_code_lines(source)
    if line and line <= len(lines.texts) and (word := _CAPITAL.match(lines.texts[line - 1])):
        message = f"Line {line} begins with {word[1]}; Python writes {word[1].lower()}."
        yield _finding("capital", (line, word.start(1) + 1), message)
    if problem == "SyntaxError":
        return
    indents = {
        number: text[: len(text) - len(text.lstrip(" \t"))]
        for number, text in enumerate(lines.texts, start=1)
        if is_code[number - 1] and text.strip()
    }
    tabs = [number for number, indent in indents.items() if "\t" in indent]
    spaces = [number for number, indent in indents.items() if " " in indent]
    if tabs and spaces:
        column = indents[tabs[0]].index("\t") + 1
        message = (
            f"Line {tabs[0]} is indented with a tab, line {spaces[0]} with spaces; {len(tabs)} "
            f"line{'s' * (len(tabs) > 1)} of {len(indents)} hold tabs. Indent all with four spaces "
            "for each level."
        )
        yield _finding("tabs", (tabs[0], column), message, count=len(tabs))


# --- whole forms ----------------------------------------------------------------------------------
def _forms(source: str, problem: str) -> Iterator[PastedFinding]:
    if forms.is_notebook(source):
        message = (
            "This is the file of a Jupyter notebook, not a Python program. Send the code of its "
            "cells alone: in Jupyter, File, Save and Export Notebook As, Executable Script."
        )
        yield _finding("notebook", (1, 1), message)
        return
    if what := forms.document(source):
        yield _finding(
            "document", (1, 1), f"This is {what}, not a Python program. Send the code alone."
        )
        return
    lines, is_code = forms.all_code_lines(source)
    yield from _line_forms(source, lines, is_code)
    if found := next(forms.entities(source), None):
        count = sum(1 for _ in forms.entities(source))
        place = lines.place(found.start())
        message = (
            f"{found[0]} in line {place[0]}, column {place[1]}, is how HTML writes a character; "
            "Python does not. Copy the code from the page as it is shown, not from its source."
        )
        yield _finding("html", place, message, count=count)
    if problem in NOT_PYTHON and (tag := next(forms.tags(source), None)):
        place = lines.place(tag.start())
        message = (
            f"{tag[0][:40]} in line {place[0]}, column {place[1]}, is a tag of HTML. Delete the "
            "tags."
        )
        yield _finding("html", place, message)


def _line_forms(source: str, lines: Lines, is_code: Sequence[bool]) -> Iterator[PastedFinding]:
    if marked := forms.fences(lines, is_code):
        number = marked[0][0] + 1
        message = (
            f"Line {number} marks code in Markdown ({lines.texts[number - 1].strip()[:20]}), and "
            "is no Python. Send what stands between such lines, without them."
        )
        yield _finding("fence", _begin(lines, number), message, count=len(marked))
    if prompted := forms.prompts(lines, is_code):
        number = prompted[0] + 1
        sign = re.match(r"\s*(In ?\[[ \d]*\]:|>>>)", lines.texts[number - 1])
        message = (
            f"Line {number} begins with {sign[1] if sign else 'a prompt'}, the prompt of an "
            "interpreter. Delete the prompts, and the lines that it printed."
        )
        yield _finding("prompt", _begin(lines, number), message, count=len(prompted))
    if commands := forms.magics(source, lines, is_code):
        number = commands[0] + 1
        message = (
            f"Line {number}, {lines.texts[number - 1].strip()[:40]}, is a command to a notebook, "
            "and no Python. Delete such lines."
        )
        yield _finding("magic", _begin(lines, number), message, count=len(commands))
    if forms.is_numbered(lines):
        message = "Every line begins with its number. Delete the numbers."
        yield _finding("numbers", (1, 1), message, count=len(lines.texts))
    elif forms.is_quoted(lines):
        message = "Every line begins with >, as quoted text does. Delete these marks."
        yield _finding("quotation", (1, 1), message, count=len(lines.texts))


def _begin(lines: Lines, number: int) -> tuple[int, int]:
    text = lines.texts[number - 1]
    return number, len(text) - len(text.lstrip()) + 1
