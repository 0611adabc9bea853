"""Autolinks: bare addresses become links, as in GitHub's renderer (cmark-gfm).

`www.` and `http://` while parsing, e-mail addresses once the text is known.
"""

from __future__ import annotations

import re
import unicodedata

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

_SPACE = " \t\n\v\f\r"
_SCHEME = re.compile(r"https?", re.IGNORECASE)
_LETTERS_BEFORE = re.compile(r"[A-Za-z]*\Z")
_TO_SPACE = re.compile(rf"[^{_SPACE}<]*")
_BRACKET = re.compile(r"\\.|[\[\]]", re.DOTALL)
_ENTITY = re.compile(r"&[A-Za-z]+;\Z")
_EMAIL = re.compile(r"(?<![\w.+/-])[A-Za-z0-9.+_-]+@((?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9]))+)(?!@)")


def use_autolinks(md: MarkdownIt) -> None:
    """Add autolinks to the parser."""
    md.inline.add_terminator_char("w")
    md.inline.ruler.push("www_autolink", _www)
    md.inline.ruler.push("url_autolink", _url)
    md.core.ruler.push("email_autolinks", _emails)


def _www(state: StateInline, silent: bool) -> bool:
    src, start = state.src, state.pos
    if not src.startswith("www.", start, state.posMax) or not _may_link(state, silent):
        return False
    if start > 0 and src[start - 1] not in f"*_~({_SPACE}":
        return False
    length = _length(src[start : state.posMax], 0, needs_dot=True)
    return _push_link(state, "http://", 0, length)


def _url(state: StateInline, silent: bool) -> bool:
    src, start = state.src, state.pos
    if not src.startswith("://", start, state.posMax) or not _may_link(state, silent):
        return False
    letters = _LETTERS_BEFORE.search(src[max(0, start - 8) : start])
    scheme = letters.group() if letters else ""
    host = src[start + 3 : start + 4]
    if not _SCHEME.fullmatch(scheme) or not host or not _is_host_character(host):
        return False
    if not state.pending.endswith(scheme):
        return False
    length = _length(src[start : state.posMax], 3, needs_dot=False)
    return _push_link(state, "", len(scheme), length)


def _may_link(state: StateInline, silent: bool) -> bool:
    """GitHub makes no autolinks inside square brackets, whether these are a link or not."""
    if silent or state.linkLevel > 0:
        return False
    src, place, depth = state.env.get("brackets", ("", 0, 0))
    if src is not state.src or place > state.pos:
        place = depth = 0
    for bracket in _BRACKET.finditer(state.src, place, state.pos):
        depth = max(0, depth + {"[": 1, "]": -1}.get(bracket.group(), 0))
    state.env["brackets"] = state.src, state.pos, depth
    return bool(depth == 0)


def _push_link(state: StateInline, prefix: str, back: int, length: int) -> bool:
    """Add a link over the last `back` and the next `length` characters; False if there is none."""
    if length == 0:
        return False
    text = state.src[state.pos - back : state.pos + length]
    if back:
        state.pending = state.pending[:-back]
    opening = state.push("link_open", "a", 1)
    opening.attrs = {"href": state.md.normalizeLink(prefix + text)}
    state.push("text", "", 0).content = text
    state.push("link_close", "a", -1)
    state.pos += length
    return True


def _length(data: str, domain: int, needs_dot: bool) -> int:
    """Return how much of `data`, whose domain begins at `domain`, belongs to the address."""
    end = _domain_end(data[domain:], needs_dot)
    if end == 0:
        return 0
    rest = _TO_SPACE.match(data, domain + end)
    return _without_marks(data[: rest.end() if rest else domain + end])


def _domain_end(data: str, needs_dot: bool) -> int:
    dots, underscores = 0, [0, 0]
    place = 1
    while place < len(data) - 1:
        if data[place] == "_":
            underscores[1] += 1
        elif data[place] == ".":
            underscores = [underscores[1], 0]
            dots += 1
        elif data[place] != "-" and not _is_host_character(data[place]):
            break
        place += 1
    # No underscores in the last two parts of a domain.
    return 0 if any(underscores) or (needs_dot and not dots) else place


def _without_marks(address: str) -> int:
    """Return the length without the punctuation of the surrounding sentence."""
    while address:
        entity = _ENTITY.search(address)
        if address[-1] in "?!.,:*_~'\"":
            address = address[:-1]
        elif address[-1] == ";":
            address = address[: entity.start() if entity else -1]
        elif address[-1] == ")" and address.count(")") > address.count("("):
            address = address[:-1]
        else:
            break
    return len(address)


def _is_host_character(character: str) -> bool:
    return not character.isspace() and not unicodedata.category(character).startswith("P")


def _emails(state: StateCore) -> None:
    for inline in state.tokens:
        if inline.type == "inline" and inline.children and "@" in inline.content:
            inline.children = _with_emails(inline.children)


def _with_emails(tokens: list[Token]) -> list[Token]:
    found: list[Token] = []
    in_links = 0
    for token in tokens:
        in_links += token.nesting if token.type.startswith("link_") else 0
        found += [token] if in_links or token.type != "text" else _split(token)
    return found


def _split(text: Token) -> list[Token]:
    tokens: list[Token] = []
    place = 0
    for email in _EMAIL.finditer(text.content):
        if "." not in email.group(1) or not email.group()[-1].isalpha():
            continue
        tokens.append(_text(text.content[place : email.start()], text.level))
        tokens.append(Token("link_open", "a", 1, {"href": f"mailto:{email.group()}"}))
        tokens.append(_text(email.group(), text.level + 1))
        tokens.append(Token("link_close", "a", -1))
        place = email.end()
    return [*tokens, _text(text.content[place:], text.level)] if tokens else [text]


def _text(content: str, level: int) -> Token:
    return Token("text", "", 0, content=content, level=level)
