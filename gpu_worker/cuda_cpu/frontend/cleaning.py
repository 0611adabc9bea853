"""The first phases of translation, done here as the compiler would do them.

Comments become spaces, directives are told apart from code, lines keep their numbers. The rules are
applied to this text, and this text is compiled: the compiler sees nothing that was not checked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from gpu_worker.cuda_cpu.errors import refusal
from gpu_worker.cuda_cpu.frontend import attributes
from gpu_worker.cupy_cpu.executor.defects import Defect
from gpu_worker.unicode_names import named

_TOKEN: Final = re.compile(
    r"""
    (?P<comment>//(?:\\\r?\n|[^\n])*|/\*(?s:.*?)\*/)
  | (?P<open_comment>/\*)
  | (?P<raw>(?:u8|u|U|L)?R")
  | (?P<string>(?:u8|u|U|L)?"(?:\\(?s:.)|[^"\\\n])*")
  | (?P<character>(?:u8|u|U|L)?'(?:\\(?s:.)|[^'\\\n])*')
  | (?P<number>\.?[0-9](?:'?[0-9a-zA-Z_.]|(?<=[eEpP])[+-])*)
  | (?P<word>[A-Za-z_$][A-Za-z0-9_$]*)
    """,
    re.VERBOSE,
)
_NOT_NEWLINE: Final = re.compile(r"[^\n]")
_DIRECTIVE: Final = re.compile(r"[ \t\f\v]*(?:\#|%:)")
_SPLICE: Final = "\\ \t\f\v"
"""The backslash of a line splice, and the blanks that compilers accept after it."""


@dataclass(frozen=True, slots=True)
class Directive:
    """A preprocessing directive: its first line, its name, the rest with its lines joined, and how
    many lines those were.
    """

    line: int
    name: str
    rest: str
    lines: int = 1


@dataclass(frozen=True, slots=True)
class CleanSource:
    """`code` has comments and directives blanked; `text` keeps directives other than includes and
    pragmas, `plain` keeps them all, each in one line. Of attributes the first two have what g++ is
    given, `plain` has what the source says.

    Each has as many lines as the source, and what it keeps is at its place.
    """

    plain: str
    text: str
    code: str
    directives: tuple[Directive, ...]


def clean(source: str) -> CleanSource:
    """Return a source without comments, and its directives.

    Raises:
        CompileError: it holds text that no kernel needs, such as raw strings.
    """
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in source:
        raise refusal(
            "The source holds a zero byte.", source.count("\n", 0, source.index("\0")) + 1
        )
    if not source.isascii():
        source = _ascii_only(source)
    text = _without_comments(source)
    lines = text.split("\n")
    plain, code, kept, directives = [], [], [], []
    number = 0
    while number < len(lines):
        count = _physical_lines(lines, number)
        joined = _joined(lines[number : number + count])
        if _DIRECTIVE.match(joined):
            directive = _directive(joined, number + 1, count)
            directives.append(directive)
            packs = directive.name == "pragma" and directive.rest.startswith("pack")
            blank = directive.name in ("include", "pragma") and not packs
            kept += [""] * count if blank else lines[number : number + count]
            code += [""] * count
            # Not all compilers join lines if blanks follow the backslash.
            plain += [joined, *[""] * (count - 1)]
        else:
            apart = _taken_apart(lines[number : number + count], number + 1)
            plain += apart
            kept += apart
            code += apart
        number += count
    return CleanSource(
        "\n".join(plain),
        attributes.rewritten("\n".join(kept)),
        attributes.rewritten("\n".join(code)),
        tuple(directives),
    )


def check_directives(before: str, after: str) -> None:
    """Refuse a text in which a line is a directive that was none before it was changed.

    Raises:
        CompileError: what stood before a # in its line is gone.
    """
    lines = zip(before.split("\n"), after.split("\n"), strict=True)
    for number, (old, new) in enumerate(lines, start=1):
        if _DIRECTIVE.match(new) and not _DIRECTIVE.match(old):
            raise refusal("A directive begins its line.", number, Defect.COMPILE_ERROR)


def blank(text: str) -> str:
    """Return a text of spaces with the newlines where they were."""
    return _NOT_NEWLINE.sub(" ", text)


def _ascii_only(source: str) -> str:
    """Blank what is not ASCII in comments and strings; elsewhere it has no business."""
    pieces, last = [], 0
    for match in _TOKEN.finditer(source):
        between = source[last : match.start()]
        _check_ascii(between, source, last)
        token = match.group()
        if match.lastgroup in ("comment", "string", "character"):
            token = "".join(c if c.isascii() else "?" for c in token)
        else:
            _check_ascii(token, source, match.start())
        pieces += [between, token]
        last = match.end()
    _check_ascii(source[last:], source, last)
    return "".join(pieces) + source[last:]


def _check_ascii(text: str, source: str, at: int) -> None:
    for offset, character in enumerate(text):
        if not character.isascii():
            line = source.count("\n", 0, at + offset) + 1
            raise refusal(
                f"A character that CUDA C does not allow outside of comments and strings: "
                f"{named(character)}. It may have come along with copied text.",
                line,
                Defect.COMPILE_ERROR,
            )


def _without_comments(source: str) -> str:
    pieces, last = [], 0
    for match in _TOKEN.finditer(source):
        line = source.count("\n", 0, match.start()) + 1
        if match.lastgroup == "open_comment":
            raise refusal("A comment that begins with /* never ends.", line, Defect.COMPILE_ERROR)
        if match.lastgroup == "raw":
            raise refusal('Raw strings, R"(...)", are not taken here; no kernel needs one.', line)
        if match.lastgroup == "comment":
            pieces += [source[last : match.start()], blank(match.group())]
            last = match.end()
    return "".join(pieces) + source[last:]


def _physical_lines(lines: list[str], number: int) -> int:
    count = 1
    while lines[number + count - 1].rstrip(" \t\f\v").endswith("\\") and number + count < len(
        lines
    ):
        count += 1
    return count


def _joined(lines: list[str]) -> str:
    return "".join(line.rstrip(" \t\f\v").removesuffix("\\") for line in lines[:-1]) + lines[-1]


def _taken_apart(lines: list[str], first: int) -> list[str]:
    """Return lines of code that are one, without the marks that join them.

    A compiler that joined them could find a comment that was not seen here, and a directive behind
    it. A line of its own may not become a directive either.
    """
    for number, line in enumerate(lines[1:], start=first + 1):
        if _DIRECTIVE.match(line):
            raise refusal(
                "The line before ends with \\ and goes on here, so # begins no directive.",
                number,
                Defect.COMPILE_ERROR,
            )
    return [_without_splice(line) for line in lines]


def _without_splice(line: str) -> str:
    rest = line.rstrip(_SPLICE)
    return rest if "\\" in line[len(rest) :] else line


def _directive(joined: str, line: int, lines: int) -> Directive:
    body = joined.lstrip()
    body = body[2:] if body.startswith("%:") else body[1:]
    name = re.match(r"\s*(\w*)", body)
    assert name is not None  # noqa: S101  the pattern matches anything
    rest = body[name.end() :].strip()
    if name[1] == "define":
        rest = attributes.rewritten(rest, line)
    return Directive(line, name[1], rest, lines)
