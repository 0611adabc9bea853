"""The Markdown parser: CommonMark with GitHub's extensions, formulas, and positions of mistakes.

Authors paste text written for GitHub, notebooks and chats, all of which use CommonMark.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline, autolink, html_inline, image, link
from mdit_py_plugins.footnote import footnote_plugin

from courses.rendering.autolinks import use_autolinks
from courses.rendering.math_rules import push_stray, use_formulas
from courses.rendering.tex_in_text import advice_on

# Below this depth the parser drops text; `markdown_text` then reports it.
MAX_NESTING = 40
NO_FOOTNOTE = (
    "There is no footnote [^{0}] in this text. Write it in a paragraph of its own, as in "
    "[^{0}]: text. Its name must be the same to the letter."
)
DETAILS_OPEN = (
    "This /// opens a part that is never closed. Write /// on a line of its own where it ends."
)
ATTRIBUTES = (
    "A list of attributes in braces is shown as it stands. Take it out; only a heading may have a "
    "name of its own, as in ### Title {#name}."
)
_ATTRIBUTES = re.compile(r"\{:\s*[.#\w][^{}\n]*\}")
_LOST_FOOTNOTE = re.compile(r"\[\^([^\]\s]+)\](?![(:])")
_DETAILS = re.compile(r"(?P<mark>/{3,})\s*details\s*(?:\|\s*(?P<title>.*))?")
_TEX_COMMAND = re.compile(r"\\([A-Za-z]+)\*?(?P<argument>[\[{])?")

_GITHUB = {"tasklists": True, "alerts": True, "strikethrough_single_tilde": True}

InlineRule = Callable[[StateInline, bool], bool]
_PLACED: dict[str, InlineRule] = {
    "link": link,
    "image": image,
    "autolink": autolink,
    "html_inline": html_inline,
}


def github_parser() -> MarkdownIt:
    """Return a parser whose tokens give the position of links and the like in `meta["at"]`."""
    md = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING, **_GITHUB})
    md.enable(["table", "strikethrough"])
    footnote_plugin(md, inline=False)
    use_autolinks(md)
    # Addresses are checked later, where errors can be reported.
    md.validateLink = _accept  # type: ignore[method-assign]
    for name, rule in _PLACED.items():
        md.inline.ruler.at(name, _with_place(rule))
    md.inline.ruler.after("footnote_ref", "lost_footnote", _lost_footnote)
    use_formulas(md)
    md.inline.ruler.before("escape", "tex_command", _tex_command)
    md.inline.ruler.before("escape", "attributes", _attributes)
    md.block.ruler.before(
        "fence", "details", _details, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    md.core.ruler.at("inline", _inline)
    return md


def _accept(url: str) -> bool:
    return True


def _with_place(rule: InlineRule) -> InlineRule:
    def placed(state: StateInline, silent: bool) -> bool:
        start, count = state.pos, len(state.tokens)
        # Nothing closes it: a text of nothing but brackets must not take minutes.
        if state.src[start] in "[!" and state.html_terminator_last("]") < start:
            return False
        if not rule(state, silent):
            return False
        for token in state.tokens[count:]:
            if token.type in {"link_open", "image", "html_inline"}:
                token.meta["at"], token.meta["end"] = start, state.pos
                break
        return True

    return placed


def _inline(state: StateCore) -> None:
    """The parser's own rule, which does not record positions."""
    before = ""
    for token in state.tokens:
        if token.type == "inline":
            state.env["in_cell"] = before in {"th_open", "td_open"}
            token.children = token.children or []
            state.md.inline.parse(token.content, state.md, state.env, token.children)
        before = token.type


def _tex_command(state: StateInline, silent: bool) -> bool:
    """A LaTeX command outside of a formula, which nothing would render."""
    if silent or state.src[state.pos] != "\\":
        return False
    match = _TEX_COMMAND.match(state.src, state.pos, state.posMax)
    before = state.src[max(0, state.pos - 1) : state.pos]
    # C:\Users and \server\share are paths, \n is a line feed.
    if match is None or before.isalnum() or before in {":", "\\", "/", "."}:
        return False
    if len(match.group(1)) < 2 and not match.group("argument"):
        return False
    text = match.group().rstrip("[{")
    push_stray(state, text, advice_on(match.group(1)))
    state.pos += len(text)
    return True


def _lost_footnote(state: StateInline, silent: bool) -> bool:
    """`[^1]` without its footnote. What only looks like one, such as `[^a-z]`, is text."""
    match = _LOST_FOOTNOTE.match(state.src, state.pos, state.posMax)
    if silent or match is None:
        return False
    label = match.group(1)
    known = {name[1:].casefold() for name in state.env.get("footnotes", {}).get("refs", {})}
    if not label.isdigit() and label.casefold() not in known:
        return False
    push_stray(state, match.group(), NO_FOOTNOTE.format(label))
    state.pos = match.end()
    return True


def _attributes(state: StateInline, silent: bool) -> bool:
    """`{: .name}`, which other dialects of Markdown read as classes."""
    match = _ATTRIBUTES.match(state.src, state.pos, state.posMax)
    if silent or match is None:
        return False
    push_stray(state, match.group(), ATTRIBUTES)
    state.pos = match.end()
    return True


def _details(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """`/// details | Title` up to a line `///`: a collapsible block."""
    if state.is_code_block(first):
        return False
    opening = _DETAILS.fullmatch(_line(state, first))
    if opening is None:
        return False
    if silent:
        return True
    last = first + 1
    while last < end and _line(state, last) != opening["mark"]:
        last += 1
    token = state.push("details_open", "details", 1)
    token.map = [first, min(last + 1, end)]
    if last == end:
        token.meta = {"message": DETAILS_OPEN}
    state.push("summary_open", "summary", 1)
    title = state.push("inline", "", 0)
    title.map, title.content, title.children = [first, first + 1], opening["title"] or "Details", []
    state.push("summary_close", "summary", -1)
    line_max, state.lineMax = state.lineMax, last
    state.md.block.tokenize(state, first + 1, last)
    state.lineMax = line_max
    state.push("details_close", "details", -1)
    state.line = min(last + 1, end)
    return True


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()
