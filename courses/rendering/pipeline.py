"""The single entry point from sources to a page: page, admin, preview and API call `render_all`."""

from __future__ import annotations

import hashlib
import html as html_module
import re
from collections.abc import Callable, Mapping

from courses.rendering.density import too_dense
from courses.rendering.katex_styles import MathStylesheet
from courses.rendering.markdown_text import TextRenderer
from courses.rendering.markdown_tree import ConvertedText
from courses.rendering.model import Rendered, Source, SourceError
from courses.rendering.places import source_error, with_line_feeds
from courses.rendering.tex import Formula, FormulaError, render_formulas

# A formula of this width still fits in a line on a phone.
MAX_UNBROKEN_CHARACTERS = 16
# A longer unbreakable piece is wider than the narrowest phone: such a formula gets a scrollable
# line of its own there.
MAX_PIECE_CHARACTERS = 20
CONTROL_CHARACTER = (
    "There is a control character here that no page can show. Delete it and type the text again."
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_MATH_ELEMENT = re.compile(
    r'([(\[“‘]*)<(span|div) class="arithmatex">(mathtoken[0-9a-f]{16}n\d+e)</\2>([,.;:!?)\]’”]*)'
)
_ELEMENT = re.compile(r"<[^>]*>")

Results = Mapping[Formula, str | FormulaError]


def render_all(sources: Mapping[str, Source]) -> Rendered:
    """Render all texts and formulas of a page; all formulas go through one child process.

    The author's mistakes are in `Rendered.errors`, by source name and in the order of the text;
    they are never raised. Deterministic. Raises `RenderError` if the renderer itself fails.
    """
    texts = {name: with_line_feeds(source.text) for name, source in sources.items()}
    renderer = TextRenderer()
    converted: dict[str, ConvertedText] = {}
    formulas: list[Formula] = []
    for name, source in sources.items():
        text = _CONTROL.sub("\ufffd", texts[name])
        if source.kind in {"tex_display", "tex_inline"}:
            formulas.append(_bare_formula(source.kind, text))
        else:
            dense = too_dense(text)
            converted[name] = (
                ConvertedText(messages=[dense])
                if dense
                else renderer.convert(name, text, source.kind == "inline_markdown")
            )
            formulas += [placed.formula for placed in converted[name].formulas]
    stylesheet = MathStylesheet()
    results = render_formulas(formulas, stylesheet)

    page: dict[str, str] = {}
    errors: dict[str, list[SourceError]] = {}
    for name, source in sources.items():
        text = _CONTROL.sub("\ufffd", texts[name])
        if name in converted:
            page[name], found = _fill(converted[name], results)
        else:
            page[name], found = _bare(_bare_formula(source.kind, text), results)
        found += [(match.start(), CONTROL_CHARACTER) for match in _CONTROL.finditer(texts[name])]
        if found:
            errors[name] = [source_error(text, *item) for item in sorted(set(found))]
    css = stylesheet.css()
    return Rendered(
        html=page,
        css=css,
        css_hash=hashlib.sha256(css.encode()).hexdigest()[:16],
        errors=errors,
        links={name: each.links for name, each in converted.items() if each.links},
    )


def _bare_formula(kind: str, text: str) -> Formula:
    return Formula(text, kind == "tex_display")


def _bare(formula: Formula, results: Results) -> tuple[str, list[tuple[int, str]]]:
    result = results[formula]
    if isinstance(result, FormulaError):
        return _broken(formula), [(result.offset, result.message)]
    return _wrapped(formula, result), []


def _fill(text: ConvertedText, results: Results) -> tuple[str, list[tuple[int, str]]]:
    """Insert the formulas into a text; return its errors with their offsets in the Markdown."""
    found = [(each.offset, each.message) for each in text.messages]
    by_token: dict[str, str] = {}
    for placed in text.formulas:
        result = results[placed.formula]
        if isinstance(result, FormulaError):
            by_token[placed.token] = _broken(placed.formula)
            found.append((placed.offset(result.offset), result.message))
        else:
            by_token[placed.token] = _wrapped(placed.formula, result)
    put_in: Callable[[re.Match[str]], str] = lambda match: _kept(match, by_token)  # noqa: E731
    return _MATH_ELEMENT.sub(put_in, text.html), found


def _kept(match: re.Match[str], by_token: Mapping[str, str]) -> str:
    """Return the formula, in one unbreakable element with the adjacent punctuation, unless it is
    long.

    Browsers would break the line between a formula and its comma; only forbidding all breaks in
    both prevents that.
    """
    before, tag, token, after = match.groups()
    formula = by_token.get(token, "")
    markup = f"{before}{formula}{after}"
    drawn = _ELEMENT.sub("", formula.rpartition('<span class="katex-html"')[2].partition(">")[2])
    if tag == "span" and (before or after) and len(drawn) <= MAX_UNBROKEN_CHARACTERS:
        return f'<span class="math-kept">{markup}</span>'
    return markup


def _wrapped(formula: Formula, markup: str) -> str:
    """Wrap KaTeX's markup in the element that the style sheet knows."""
    if formula.display:
        return (
            '<div class="math-display" tabindex="0" role="group" aria-label="Formula" '
            f'translate="no">{markup}</div>'
        )
    if _longest_piece(markup) > MAX_PIECE_CHARACTERS:
        return (
            '<span class="math-inline is-long" tabindex="0" role="group" aria-label="Formula" '
            f'translate="no">{markup}</span>'
        )
    return f'<span class="math-inline" translate="no">{markup}</span>'


def _longest_piece(markup: str) -> int:
    """Return the number of characters drawn in the longest unbreakable piece."""
    drawn = markup.rpartition('<span class="katex-html"')[2]
    pieces = drawn.split('<span class="katex-base">')[1:]
    return max((len(_ELEMENT.sub("", piece)) for piece in pieces), default=0)


def _broken(formula: Formula) -> str:
    """Show a formula with a mistake as its source, so that a preview shows where it is."""
    tex = html_module.escape(formula.tex.strip("\n"))
    if formula.display:
        return f'<pre class="math-error" tabindex="0" translate="no"><code>{tex}</code></pre>'
    return f'<code class="math-error" translate="no">{tex}</code>'
