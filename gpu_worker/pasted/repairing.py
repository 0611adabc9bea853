"""Extracts the program from pasted text, but only where it is certain what the program is."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gpu_worker.messages.protocol import MAX_SOURCE_BYTES
from gpu_worker.pasted import forms
from gpu_worker.pasted.characters import SUSPECT, foreign
from gpu_worker.pasted.scanning import pieces

_OPENS_A_BLOCK: Final = re.compile(r"[:(\[{,\\]\s*(?:#.*)?$")
_PYTHON_CELLS: Final = frozenset({"time", "timeit", "capture", "prun", "python", "python3", "py"})


@dataclass(frozen=True, slots=True)
class Repair:
    """The program alone, and what was done to have it, in words."""

    text: str
    did: str


def repaired(source: str, *, characters: bool = False) -> Repair | None:
    """Return the program that was pasted, without what is around it; None if nothing is certain.

    `characters` also writes plain spaces for others and leaves out what cannot be seen, in the
    code: for a source that Python has refused. What is too large to be a source is looked at for
    being a notebook alone, which may hold a smaller one.
    """
    steps: list[Callable[[str], Repair | None]] = [
        *(_cells, _unescaped, _unquoted, _unnumbered, _unfenced, _unprompted, _without_magics)
    ]
    if characters:
        steps.append(_plain_spaces)
    text, did = source, list[str]()
    for step in steps:
        if len(text) > MAX_SOURCE_BYTES and step is not _cells:
            return None
        found = step(text)
        if found and found.text.strip():
            text, did = found.text, [*did, found.did]
    if not did or text == source:
        return None
    return Repair(text.strip("\n") + "\n", " and ".join(did))


def _cells(source: str) -> Repair | None:
    cells = forms.notebook_cells(source)
    if cells is None:
        return None
    return Repair("\n\n".join(map(_cell, cells)), "the notebook's code cells alone are kept")


def _cell(text: str) -> str:
    """Return a cell as Python: one that is for another program becomes a comment."""
    first = forms.MAGIC.match(text.lstrip("\n").partition("\n")[0])
    if first and first["sign"] == "%%" and first["name"] not in _PYTHON_CELLS:
        return "\n".join(f"# {line}".rstrip() for line in text.split("\n"))
    return text


def _unescaped(source: str) -> Repair | None:
    if not forms.is_escaped_whole(source):
        return None
    text = html.unescape(source).replace("\u00a0", " ")
    return Repair(text, "HTML's names of characters are the characters again")


def _unquoted(source: str) -> Repair | None:
    lines = forms.Lines(source)
    if not forms.is_quoted(lines):
        return None
    texts = [match[1] if (match := forms.QUOTED.match(text)) else "" for text in lines.texts]
    return Repair("\n".join(texts), "the marks of a quotation are removed")


def _unnumbered(source: str) -> Repair | None:
    lines = forms.Lines(source)
    if not forms.is_numbered(lines):
        return None
    texts = [match[2] if (match := forms.NUMBERED.match(text)) else "" for text in lines.texts]
    filled = [text for text in texts if text.strip()]
    common = min((len(text) - len(text.lstrip(" ")) for text in filled), default=0)
    return Repair("\n".join(text[common:] for text in texts), "the numbers of lines are removed")


def _unfenced(source: str) -> Repair | None:
    lines, is_code = forms.all_code_lines(source)
    found = forms.fences(lines, is_code)
    if not found:
        return None
    texts = lines.texts
    if len(found) == 1:
        at = found[0][0]
        before, after = texts[:at], texts[at + 1 :]
        if "".join(before).strip() and "".join(after).strip():
            return None
        kept = [after if "".join(after).strip() else before]
    elif len(found) % 2:
        return None
    else:
        pairs = zip(found[::2], found[1::2], strict=True)
        kept = [
            texts[begin + 1 : end]
            for (begin, name), (end, _) in pairs
            if name in forms.PYTHON_FENCES
        ]
    text = "\n\n".join("\n".join(part) for part in kept)
    return Repair(text, "the code between Markdown's marks alone is kept")


def _unprompted(source: str) -> Repair | None:
    lines, is_code = forms.all_code_lines(source)
    found = set(forms.prompts(lines, is_code))
    if not found:
        return None
    kept, dropped, banner = [], 0, True
    for number, text in enumerate(lines.texts):
        if number in found:
            code = _behind_prompt(text)
            if code is None:
                return None
            kept.append(code)
            banner = False
        elif text.strip():
            # A line without a prompt is output, unless it continues the input.
            if banner and not _is_banner(text):
                return None
            if number - 1 in found and kept and _OPENS_A_BLOCK.search(kept[-1]):
                return None
            dropped += 1
    also = f" (and {dropped} line{'s' * (dropped != 1)} without one left out)" if dropped else ""
    return Repair("\n".join(kept), f"the prompts are removed{also}")


def _behind_prompt(text: str) -> str | None:
    """Return a line's code; None behind an empty `In [1]:`, whose code begins on the next line."""
    if match := forms.PROMPT.match(text):
        return match["code"] or ""
    match = forms.IPYTHON.match(text)
    if match is None or (match["code"] is None and match["prompt"].startswith("In")):
        return None
    return match["code"] or ""


def _is_banner(text: str) -> bool:
    """Whether an interpreter says so at its start."""
    return bool(re.match(r"(?:Python|IPython|Type |\[(?:GCC|Clang|MSC))", text))


def _without_magics(source: str) -> Repair | None:
    lines, is_code = forms.all_code_lines(source)
    found = set(forms.magics(source, lines, is_code))
    if not found:
        return None
    texts = [f"# {text}" if number in found else text for number, text in enumerate(lines.texts)]
    return Repair("\n".join(texts), "commands to the notebook are comments")


def _plain_spaces(source: str) -> Repair | None:
    """Write plain spaces for others, and leave out what cannot be seen, within the code."""

    def plain(match: re.Match[str]) -> str:
        found = foreign(match[0])
        if found and found.kind in ("space", "invisible"):
            is_line_end = match[0] in "\u2028\u2029\x85"
            return "\n" if is_line_end else found.instead
        return match[0]

    text = "".join(
        SUSPECT.sub(plain, source[piece.start : piece.end])
        if piece.kind == "code"
        else source[piece.start : piece.end]
        for piece in pieces(source)
    )
    if text == source:
        return None
    return Repair(text, "other spaces are plain ones, and what cannot be seen is removed")
