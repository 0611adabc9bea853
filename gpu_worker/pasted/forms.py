"""Whole forms in which code is pasted: notebooks, Markdown, transcripts of interpreters, pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from gpu_worker.pasted.scanning import Lines, code_lines, pieces

DOCUMENTS: Final = {
    "{\\rtf": "a document in Rich Text Format (RTF)",
    "%PDF-": "a PDF document",
    "<!doctype html": "an HTML page",
    "<html": "an HTML page",
    "<?xml": "an XML document",
}
FENCE: Final = re.compile(r"\s*+(```++|~~~++)\s*+([\w+#.{}-]*+)\s*+$")
PYTHON_FENCES: Final = frozenset(
    {
        "",
        "python",
        "py",
        "python3",
        "py3",
        "ipython",
        "ipython3",
        "pycon",
        "{python}",
        "cuda-python",
    }
)
PROMPT: Final = re.compile(r"[ \t]*(?P<prompt>>>>|\.\.\.)(?:[ ](?P<code>.*)|)$")
IPYTHON: Final = re.compile(r"[ \t]*(?P<prompt>In ?\[[ \d]*\]:|\.\.\.+:)(?:[ ](?P<code>.*)|\s*)$")
MAGIC: Final = re.compile(r"[ \t]*(?P<sign>%%?|!!?)(?P<name>[A-Za-z_][\w.-]*)(?P<rest>.*)$")
ENTITY: Final = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")
TAG: Final = re.compile(
    r"</?(?:pre|code|span|div|p|br|body|font|td|tr|table)\b[^<>\n]*>", re.IGNORECASE
)
NUMBERED: Final = re.compile(r"[ \t]*(\d{1,5})(?:[.:|)](?=\s|$)|(?=\s|$))[ \t]?(.*)$")
QUOTED: Final = re.compile(r"[ \t]*>(?!>>)[ ]?(.*)$")
_NOTEBOOK_WORDS: Final = re.compile(
    r'\A\s*\{.*?"(?:cells|cell_type|nbformat|worksheets)"\s*:', re.DOTALL
)


def is_notebook(source: str) -> bool:
    """Whether it is a notebook's file, whole or cut off."""
    return bool(_NOTEBOOK_WORDS.match(source[:4096])) and "cell_type" in source


def notebook_cells(source: str) -> list[str] | None:
    """Return the code of a notebook's cells, None where it is no notebook that can be read."""
    if not is_notebook(source):
        return None
    try:
        data: Any = json.loads(source)
    except (ValueError, RecursionError):
        return None
    sheets = data.get("worksheets") if isinstance(data, dict) else None
    holders = sheets if isinstance(sheets, list) else [data]
    cells = []
    for holder in holders:
        for cell in _list(holder, "cells"):
            if isinstance(cell, dict) and cell.get("cell_type") == "code":
                text = cell.get("source", cell.get("input", ""))
                lines = text if isinstance(text, list) else [text]
                cells.append("".join(line for line in lines if isinstance(line, str)))
    return cells


def _list(holder: Any, name: str) -> list[Any]:
    found = holder.get(name) if isinstance(holder, dict) else None
    return found if isinstance(found, list) else []


def document(source: str) -> str:
    """Return what kind of document it is that is no program, empty if none is known."""
    start = source.lstrip("\ufeff \t\r\n")[:20].lower()
    return next((what for sign, what in DOCUMENTS.items() if start.startswith(sign.lower())), "")


def fences(lines: Lines, is_code: Sequence[bool]) -> list[tuple[int, str]]:
    """Return the lines (from 0) that mark code in Markdown, with the language that they name.

    Tildes alone could be Python's own: they count where two lines of them are there.
    """
    found = [
        (number, match[1][0], match[2].lower())
        for number, text in enumerate(lines.texts)
        if is_code[number] and (match := FENCE.match(text))
    ]
    tildes = sum(sign == "~" for _, sign, _ in found)
    return [(number, name) for number, sign, name in found if sign == "`" or tildes > 1]


def prompts(lines: Lines, is_code: Sequence[bool]) -> list[int]:
    """Return the lines (from 0) that begin with a prompt of the interpreter, or of IPython."""
    found: list[int] = []
    for number, text in enumerate(lines.texts):
        if not is_code[number]:
            continue
        plain, notebook = PROMPT.match(text), IPYTHON.match(text)
        # Without a prompt before them, three dots belong to the program.
        if (plain and (plain["prompt"] == ">>>" or found)) or (
            notebook and (notebook["prompt"].startswith("In") or found)
        ):
            found.append(number)
    return found


def magics(source: str, lines: Lines, is_code: Sequence[bool]) -> list[int]:
    """Return the lines (from 0) that are commands to a notebook or to a shell.

    Such a sign may also stand where a line of Python goes on: in brackets, or after a backslash.
    """
    depths = _depths(source, lines)
    return [
        number
        for number, text in enumerate(lines.texts)
        if is_code[number]
        and MAGIC.match(text)
        and depths[number] == 0
        and not (number and lines.texts[number - 1].endswith("\\"))
    ]


def _depths(source: str, lines: Lines) -> list[int]:
    """Return for each line how many brackets are open at its beginning."""
    changes = [0] * (len(lines.starts) + 1)
    for piece in pieces(source):
        if piece.kind == "code":
            for match in re.finditer(r"[(\[{]|[)\]}]", source[piece.start : piece.end]):
                line, _ = lines.place(piece.start + match.start())
                changes[line] += 1 if match[0] in "([{" else -1
    depths, depth = [], 0
    for number in range(len(lines.starts)):
        depth = max(depth + changes[number], 0)
        depths.append(depth)
    return depths


def is_numbered(lines: Lines) -> bool:
    """Whether every line that is not empty begins with its number, which go up by one."""
    numbers = [NUMBERED.match(text) for text in lines.texts if text.strip()]
    if len(numbers) < 3 or not all(numbers):
        return False
    found = [int(match[1]) for match in numbers if match]
    holds_more = sum(bool(match and match[2].strip()) for match in numbers) * 2 > len(numbers)
    return holds_more and found == list(range(found[0], found[0] + len(found)))


def is_quoted(lines: Lines) -> bool:
    """Whether every line that is not empty is quoted, as in a mail."""
    filled = [text for text in lines.texts if text.strip()]
    return len(filled) > 1 and all(QUOTED.match(text) for text in filled)


def entities(source: str) -> Iterator[re.Match[str]]:
    """Yield the characters of the code that are written as HTML writes them."""
    for piece in pieces(source):
        if piece.kind == "code":
            yield from ENTITY.finditer(source, piece.start, piece.end)


def tags(source: str) -> Iterator[re.Match[str]]:
    """Yield the tags of HTML within the code."""
    for piece in pieces(source):
        if piece.kind == "code":
            yield from TAG.finditer(source, piece.start, piece.end)


def is_escaped_whole(source: str) -> bool:
    """Whether a page's source was pasted: HTML's characters are written out, none stands plain."""
    return next(entities(source), None) is not None and not re.search(
        r"[<>]|&(?!(?:[a-zA-Z]{2,8}|#\w{1,8});)", source
    )


def all_code_lines(source: str) -> tuple[Lines, list[bool]]:
    lines = Lines(source)
    return lines, code_lines(source, lines)
