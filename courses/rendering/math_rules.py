r"""Parser rules for formulas, which run before anything inside them is read as Markdown.

Inline `$...$` and `\(...\)`; as a block `$$...$$`, `\[...\]` and `\begin{...}...\end{...}`. A
dollar sign that opens no formula is money or a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, list_block
from markdown_it.rules_inline import StateInline

IN_CELL = (
    "This dollar sign is alone in its table cell. A | ends the cell even inside a formula: write "
    "\\vert, \\lvert, \\rvert or \\mid for it. For money write \\$."
)
UNCLOSED = (
    "This dollar sign opens no formula. Close the formula with $ in the same paragraph, with no "
    "space just inside the signs and no digit just after them. For a plain dollar sign write \\$."
)
DISPLAY = (
    "This $$ opens no formula. A display formula stands on lines of its own, has no empty line in "
    "it and ends with $$ at the end of a line."
)
BRACKET = (
    "This opens no formula. \\( ... \\) belongs into one paragraph; \\[ ... \\] stands on lines of "
    "its own, without an empty line in it."
)

# How far behind a bracket TeX is looked for.
SEEN_AHEAD = 300
_DOLLARS = re.compile(r"\$+")
_TO_NEXT_DOLLAR = re.compile(r"(?:[^\\$]|\\.)*", re.DOTALL)
_TEX_SIGN = re.compile(r"[\\^_{}=<>]")
# Words that no formula has; "2 xy" is a product.
_PROSE = re.compile(
    r"\s(?:an|and|at|but|by|for|if|in|is|it|not|of|off|on|or|per|the|to|up|was|[a-z]{4,})\b"
)
_WORDS = re.compile(r"[a-z]{4,}|[a-z]\s+[a-z]", re.IGNORECASE)
_MONEY = re.compile(r"[ \u00a0]?[\d.,]*\d")
_TEX_AFTER = re.compile(r"\\[A-Za-z]|[_^]\{")
_TEX_IN_BRACKET = re.compile(r"\\[A-Za-z]|\^|_\{")
_CELL_OF_MONEY = re.compile(r"[\w\s.,;:/%()~$\u2013-]*")
_CLOSES_FORMULA = re.compile(r"[^$]*[^\\$\s]\$(?!\d)")
_ENVIRONMENT = re.compile(r"\\begin\{([A-Za-z]+\*?)\}")

BlockRule = Callable[[StateBlock, int, int, bool], bool]


def use_formulas(md: MarkdownIt) -> None:
    """Add formulas to the parser."""
    md.inline.ruler.before("escape", "dollar_math", _dollar)
    md.inline.ruler.before("escape", "bracket_math", _bracket)
    md.block.ruler.at(
        "list", _unless_in_formula(list_block), {"alt": ["paragraph", "reference", "blockquote"]}
    )
    md.block.ruler.before(
        "fence", "block_math", _block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )


def push_stray(state: StateInline, text: str, message: str) -> None:
    """Show `text` as it is, and report what is wrong with it."""
    token = state.push("stray", "", 0)
    token.content = text
    token.meta = {"at": state.pos, "message": message}


def _dollar(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "$":
        return False
    start, end = state.pos, state.posMax
    run = _DOLLARS.match(state.src, start, end)
    signs = len(run.group()) if run else 1
    close = _closing_dollar(state.src, start, end) if signs == 1 else None
    if close is not None:
        _push_formula(state, start + 1, close, silent)
        state.pos = close + 1
        return True
    if silent:
        return False
    message = _stray_dollar(state, signs)
    if message is None:
        token = state.push("text", "", 0)
        token.content = "$" * signs
    else:
        push_stray(state, "$" * signs, message)
    state.pos = start + signs
    return True


def _push_formula(state: StateInline, start: int, end: int, silent: bool) -> None:
    if silent:
        return
    if state.src[start] == "`" == state.src[end - 1] and end - start > 2:
        start, end = start + 1, end - 1  # $`...`$, where the formula is kept from Markdown
    token = state.push("math", "", 0)
    token.content = state.src[start:end]
    token.meta = {"at": start}


def _closing_dollar(src: str, start: int, end: int) -> int | None:
    """Return the position of the dollar that closes the formula opened at `start`, or None."""
    before, first = src[max(0, start - 1) : start], src[start + 1 : start + 2]
    if not first or first.isspace():
        return None
    found = _TO_NEXT_DOLLAR.match(src, start + 1, end)
    close = found.end() if found else end
    content, after = src[start + 1 : close], src[close + 1 : close + 2]
    if close >= end or content[-1:].isspace() or _is_cut_by_code(src, start + 1, close):
        return None
    return None if _is_money(before, content, after) else close


def _is_cut_by_code(src: str, start: int, close: int) -> bool:
    """Return whether a code span crosses the closing dollar: code binds tighter."""
    opening = re.compile("`+").search(src, start, close)
    if opening is None:
        return False
    ticks = opening.group()
    closing = re.compile(f"(?<!`){ticks}(?!`)").search(src, opening.end())
    return closing is not None and closing.start() > close


def _is_money(before: str, content: str, after: str) -> bool:
    """Return whether the text between two dollar signs is the text between two amounts."""
    is_tex = _TEX_SIGN.search(content) is not None
    if _is_digit(after) and (not is_tex or _is_digit(content[0])):
        return True  # $5-$10, $3+$4
    if _is_digit(before) and not (content[0].isalpha() or is_tex):
        return True  # 5$-10$
    begins_with_amount = _is_digit(before) or _is_digit(content[0])
    return begins_with_amount and not is_tex and _PROSE.search(content) is not None


def _is_digit(character: str) -> bool:
    return "0" <= character <= "9"


def _stray_dollar(state: StateInline, signs: int) -> str | None:
    """Return what is wrong with dollar signs that open no formula; None for money."""
    src, behind, end = state.src, state.pos + signs, state.posMax
    if signs > 1:
        return IN_CELL if state.env.get("in_cell") else DISPLAY
    is_amount = _MONEY.match(src, behind, end) or _is_digit(src[max(0, state.pos - 1) : state.pos])
    if state.env.get("in_cell"):
        return None if is_amount and _CELL_OF_MONEY.fullmatch(src, behind, end) else IN_CELL
    following = src.find("$", behind, end)
    is_tex = _TEX_AFTER.search(src, behind, end if following < 0 else following)
    return None if is_amount and not is_tex else UNCLOSED


def _bracket(state: StateInline, silent: bool) -> bool:
    r"""`\(...\)`; a `\[` that opens no block is only reported."""
    src, start = state.src, state.pos
    if src[start] != "\\" or src[start + 1 : start + 2] not in {"(", "["}:
        return False
    # The last place of a sign is looked for once a text, so that texts of openings stay cheap.
    if src[start + 1] == "(" and state.html_terminator_last("\\)") > start:
        close = src.find("\\)", start + 2, state.posMax)
        content = src[start + 2 : max(close, start + 2)]
        # \(see above\) is how some programs write (see above).
        if content.strip() and (_TEX_SIGN.search(content) or not _WORDS.search(content)):
            _push_formula(state, start + 2, close, silent)
            state.pos = close + 2
            return True
    ahead = src[start + 2 : min(start + 2 + SEEN_AHEAD, state.posMax)]
    rest = re.split(r"\\[)\]]|\$", ahead, maxsplit=1)[0]
    if silent or not _TEX_IN_BRACKET.search(rest):
        return False
    push_stray(state, src[start + 1], BRACKET)
    state.pos = start + 2
    return True


def _unless_in_formula(rule: BlockRule) -> BlockRule:
    """The list rule, except for a line such as `+ b$` that continues a formula."""

    def list_outside_of_formulas(state: StateBlock, first: int, end: int, silent: bool) -> bool:
        if silent and state.parentType == "paragraph" and first > 0:
            before = state.src[state.bMarks[first - 1] : state.eMarks[first - 1]]
            line = state.src[state.bMarks[first] : state.eMarks[first]]
            if _leaves_formula_open(before) and _CLOSES_FORMULA.match(line):
                return False
        return rule(state, first, end, silent)

    return list_outside_of_formulas


def _leaves_formula_open(line: str) -> bool:
    signs = list(re.finditer(r"(?<![\\$])\$(?!\$)", re.sub("`[^`]*`", "", line)))
    if len(signs) % 2 == 0:
        return False
    return not line[signs[-1].end() :][:1].isspace() and not _MONEY.match(line[signs[-1].end() :])


def _block(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """A display formula that begins in line `first` and ends at the end of a line."""
    if state.is_code_block(first):
        return False
    opening = state.src[state.bMarks[first] + state.tShift[first] : state.eMarks[first]]
    closing, keeps_signs = _closing_of(opening)
    if not closing:
        return False
    last = _last_line(state, first, end, opening, closing)
    if last is None:
        return False
    if silent:
        return True
    text = state.getLines(first, last + 1, state.sCount[first], False).strip(" \t")
    token = state.push("math_block", "", 0)
    token.map = [first, last + 1]
    skipped = 0 if keeps_signs else 2
    token.content = text[skipped : len(text) - skipped]
    token.meta = {"whole": text, "start": skipped}
    state.line = last + 1
    return True


def _closing_of(opening: str) -> tuple[str, bool]:
    """Return the closing delimiter for a line's opening, and whether it belongs to the formula."""
    if opening.startswith("$$"):
        return "$$", False
    if opening.startswith("\\["):
        return "\\]", False
    environment = _ENVIRONMENT.match(opening)
    return (f"\\end{{{environment.group(1)}}}", True) if environment else ("", False)


def _last_line(state: StateBlock, first: int, end: int, opening: str, closing: str) -> int | None:
    """Return the line at whose end the formula closes; None where it does not."""
    # Where one opening found no end up to some line, those up to there find none either.
    unclosed: dict[str, int] = state.env.setdefault("unclosed", {})
    if first < unclosed.get(closing, 0):
        return None
    begin = closing.replace("\\end{", "\\begin{")
    depth = 0
    text = opening[2:] if begin == closing or closing == "\\]" else opening
    for line in range(first, end):
        if line > first:
            if state.isEmpty(line) or state.sCount[line] < state.blkIndent:
                unclosed[closing] = line
                return None
            text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
        text = text.rstrip()
        if closing.startswith("\\end"):
            depth += text.count(begin)
        else:
            depth = 1
        depth -= text.count(closing)
        if depth == 0:
            return line if text.endswith(closing) else None
        if depth < 0:
            return None
    unclosed[closing] = end
    return None
