"""The formulas of one call, rendered by one child process; errors explained to the author."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from courses.rendering.changed import MARK, without_marks
from courses.rendering.katex_styles import MAX_LENGTH_EM, LengthError, MathStylesheet
from courses.rendering.model import RenderError

CHILD_PATH = Path(__file__).resolve().parent / "katex_child.py"
# The child stops itself after 5 s of CPU time; this is for a machine under heavy load.
CHILD_WALL_LIMIT_SECONDS = 30
MAX_FORMULA_CHARACTERS = 4000

COMMENT = (
    "A plain % starts a comment, which hides the rest of the line. Write \\% for a percent sign."
)
# Commands that make links, load pictures or write raw attributes.
_REFUSED_COMMAND = re.compile(r"\\(?:href|url|includegraphics|html[A-Z][A-Za-z]*)(?![A-Za-z])")
_TOKEN = re.compile(r"\\(?:[A-Za-z@]+|.)|%", re.DOTALL)
_LENGTH = re.compile(
    r"([-+]?\s*(?:\d+(?:\.\d*)?|\.\d+))\s*(em|ex|mu|pt|mm|cm|in|bp|pc|dd|cc|nd|nc|sp|px)(?![A-Za-z])"
)
# How many em one unit is, at KaTeX's 10 pt to the em.
_EM_PER_UNIT = {
    **{"em": 1.0, "ex": 0.431, "mu": 1 / 18, "pt": 0.1, "mm": 0.2845, "cm": 2.845, "in": 7.227},
    **{"bp": 0.1004, "pc": 1.2, "dd": 0.107, "cc": 1.284, "nd": 0.1067, "nc": 1.28, "sp": 1.5e-6},
    **{"px": 0.1004},
}


@dataclass(frozen=True, slots=True)
class Formula:
    """Bare TeX, without delimiters."""

    tex: str
    display: bool


@dataclass(frozen=True, slots=True)
class FormulaError:
    """An error in a formula; `offset` counts characters of the TeX from 0."""

    message: str
    offset: int


def render_formulas(
    formulas: Sequence[Formula], stylesheet: MathStylesheet
) -> dict[Formula, str | FormulaError]:
    """Return KaTeX's HTML with MathML for each distinct formula, or its error.

    The styles go to `stylesheet`. Raises `RenderError` if the child process fails.
    """
    results: dict[Formula, str | FormulaError] = {}
    waiting: list[Formula] = []
    for formula in dict.fromkeys(formulas):
        refused = _refusal(formula.tex)
        if refused is None:
            waiting.append(formula)
        else:
            results[formula] = refused
    for formula, answer in zip(waiting, _ask_child(waiting), strict=True):
        results[formula] = _result(formula, answer, stylesheet)
    return results


def _refusal(tex: str) -> FormulaError | None:
    """Return the errors that can be found without rendering."""
    if len(tex) > MAX_FORMULA_CHARACTERS:
        return FormulaError(
            f"This formula has {len(tex)} characters; at most {MAX_FORMULA_CHARACTERS} are "
            "allowed. Split it into several formulas.",
            MAX_FORMULA_CHARACTERS,
        )
    if not tex.strip():
        return FormulaError("This formula is empty. Write it, or remove its delimiters.", 0)
    for token in _TOKEN.finditer(tex):
        if token.group() == "%":
            return FormulaError(COMMENT, token.start())
        if _REFUSED_COMMAND.fullmatch(token.group()):
            return _refused_command(token.group(), token.start())
    for length in _LENGTH.finditer(tex):
        amount = float(re.sub(r"\s", "", length.group(1))) * _EM_PER_UNIT[length.group(2)]
        if abs(amount) > MAX_LENGTH_EM:
            return _oversized(length.group().strip(), MAX_LENGTH_EM, length.start())
    return None


def _refused_command(command: str, offset: int) -> FormulaError:
    return FormulaError(
        f"{command} is not allowed in a formula, because it makes links, loads pictures or writes "
        "raw HTML. Put links and pictures into the text around the formula.",
        offset,
    )


def _oversized(length: str, limit_em: float, offset: int) -> FormulaError:
    return FormulaError(
        f"The length {length} is more than {limit_em:g}em and would leave the page. Use a smaller "
        "length, or split the formula.",
        offset,
    )


def _ask_child(formulas: Sequence[Formula]) -> list[dict[str, Any]]:
    if not formulas:
        return []
    request = {"formulas": [{"tex": item.tex, "display": item.display} for item in formulas]}
    try:
        # -I: no environment, no current folder, no user packages on the import path.
        done = subprocess.run(  # noqa: S603 (fixed program and arguments; formulas go by stdin)
            [sys.executable, "-I", "-B", str(CHILD_PATH)],
            input=json.dumps(request).encode("ascii"),
            capture_output=True,
            timeout=CHILD_WALL_LIMIT_SECONDS,
            env={},
            cwd="/",
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise RenderError(
            f"The formula renderer did not finish within {CHILD_WALL_LIMIT_SECONDS} seconds. "
            "Try again; if it happens again, save fewer formulas at once."
        ) from error
    except OSError as error:
        raise RenderError(f"The formula renderer could not be started: {error}.") from error
    if done.returncode != 0:
        last_line = (done.stderr.decode("utf-8", "replace").strip().splitlines() or [""])[-1]
        raise RenderError(
            f"The formula renderer stopped with status {done.returncode}. {last_line}".strip()
        )
    return _parsed(done.stdout, len(formulas))


def _parsed(answer: bytes, count: int) -> list[dict[str, Any]]:
    try:
        results = json.loads(answer)["results"]
    except (ValueError, KeyError, TypeError) as error:
        raise RenderError("The formula renderer gave an answer that cannot be read.") from error
    if not isinstance(results, list) or len(results) != count:
        raise RenderError("The formula renderer did not answer for every formula.")
    return results


def _result(
    formula: Formula, answer: dict[str, Any], stylesheet: MathStylesheet
) -> str | FormulaError:
    if "html" in answer:
        try:
            return stylesheet.rewrite(_readable_source(formula.tex, answer["html"]))
        except LengthError as error:
            return _oversized(error.length, error.limit_em, 0)
    return explain(formula.tex, answer)


def _readable_source(tex: str, markup: str) -> str:
    """Remove the marks from the TeX that MathML carries for copying."""
    if MARK not in tex:
        return markup
    annotation = f">{html.escape(without_marks(tex), quote=False)}</annotation>"
    return re.sub(r">[^<>]*</annotation>", lambda _: annotation, markup)


def explain(tex: str, answer: dict[str, Any]) -> FormulaError:
    """Translate the child's error for an author, with its position in characters."""
    message, kind = str(answer.get("error", "")), answer.get("kind")
    offset = _from_utf16(tex, answer.get("position") or 0)
    if kind == "trust":
        return _refused_command(message, max(0, tex.find(message)))
    if kind == "budget":
        return FormulaError(
            "This formula was not rendered, because the formulas before it took too long. "
            "Simplify those first.",
            0,
        )
    if kind == "limit":
        return FormulaError(
            "This formula takes too long or too much memory. Split it, or simplify its macros and "
            "its nesting.",
            0,
        )
    if kind == "symbol":
        return FormulaError(
            f"The character {_named(tex[offset : offset + 1])} is not known in formulas. Use its "
            "TeX command, or put it into the text around the formula.",
            offset,
        )
    return FormulaError(_advice(message), offset)


def _named(character: str) -> str:
    """Return the character in quotes; an invisible one with its code point and name."""
    if character.isprintable() and not character.isspace():
        return f"'{character}'"
    name = unicodedata.name(character, "without a name") if character else ""
    return f"U+{ord(character):04X} ({name})" if character else "at the end"


def _from_utf16(tex: str, units: int) -> int:
    """Convert an offset in UTF-16 units to one in characters."""
    return len(tex.encode("utf-16-le")[: 2 * units].decode("utf-16-le", "ignore"))


_ADVICE: tuple[tuple[str, str], ...] = (
    (
        r"Got function '\\htmlClass' with no arguments as (subscript|superscript)",
        "\\changed needs braces round it in a {0}, as in x_{{\\changed{{i}}}}.",
    ),
    (r"Undefined control sequence: (.+)", "{0} is not a known TeX command. Check its spelling."),
    (
        r"Double (subscript|superscript)",
        "There are two {0}s in a row. Put braces round the part that belongs together, as in "
        "{{x_1}}_2 or x_{{1_2}}.",
    ),
    (
        r"Expected 'EOF', got '&'",
        "& separates columns and stands only inside an environment such as aligned or matrix. "
        "Write \\& for the character.",
    ),
    (r"Expected 'EOF', got '}'", "This }} closes nothing. Remove it, or add the {{ before it."),
    (
        r"Unexpected end of input in a macro argument, expected '}'",
        "The formula ends inside an argument. Add what is missing, or the }} that closes it.",
    ),
    (r"Expected '}', got 'EOF'", "A group that was opened with {{ is not closed. Add the }}."),
    (
        r"Expected '\\right', got '(.+)'",
        "A \\left has no \\right. Every \\left needs one; \\right. shows no delimiter.",
    ),
    (
        r"Expected & or \\\\ or \\cr or \\end",
        "An environment is not closed here. Add its \\end{{...}}, or separate columns by & and "
        "rows by \\\\.",
    ),
    (r"No such environment: (.+)", "There is no environment named {0}. Check its spelling."),
    (
        r"Too many expansions.*",
        "A macro expands without end, or to over 1000 parts. Remove the macro that uses itself.",
    ),
    (r"Expected group after '(.)'", "Something must follow {0} here, for example {0}{{2}}."),
    (r"Expected group as argument to '(.+)'", "{0} needs an argument in braces after it."),
    (
        r"Can't use function '(.+)' in math mode",
        "{0} does not work inside a formula; it belongs to text. In \\text{{...}} it may be right.",
    ),
)


def _advice(message: str) -> str:
    for pattern, advice in _ADVICE:
        match = re.fullmatch(pattern, message)
        if match:
            return advice.format(*match.groups())
    return f"The formula cannot be read: {message}."
