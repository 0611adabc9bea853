"""KaTeX positions glyphs with `style="..."`, which a strict Content-Security-Policy blocks.

Each distinct style becomes a class `m-<hash>` in one style sheet. On the way, every tag and
attribute is checked against an allow-list, so that a formula cannot smuggle anything in.
"""

from __future__ import annotations

import hashlib
import html
import re

from courses.rendering.model import RenderError

# Author's spaces and boxes may be this wide; the height of a tall array may be more.
MAX_LENGTH_EM = 20.0
MAX_ARRAY_HEIGHT_EM = 400.0

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?"
_LENGTH = re.compile(rf"({_NUMBER})(em|ex|px|pt|%)?")
_WIDTH_BESIDE_A_SKEW = re.compile(rf"calc\(100% - {_NUMBER}em\)")
_COLOR = re.compile(r"#[0-9a-fA-F]{3,8}|[a-zA-Z]{1,32}|currentColor")
_KEYWORDS = frozenset({"relative", "absolute", "solid", "dashed", "none", "italic", "normal"})
_KEYWORDS |= {"bold", "sans-serif"}

_HORIZONTAL = frozenset(
    {"left", "right", "margin", "margin-left", "margin-right", "margin-top", "min-width", "width"}
    | {"padding", "padding-left", "padding-right", "border-width", "border-right-width"}
    | {"border-top-width", "border-bottom-width", "border-left-width"}
)
_VERTICAL = frozenset({"height", "top", "bottom", "vertical-align", "max-height", "min-height"})
_LENGTHS = _HORIZONTAL | _VERTICAL
_COLORS = frozenset({"color", "background-color", "border-color"})
_WORDS = frozenset(
    {"position", "border-style", "border-right-style", "border-bottom-style", "border-top-style"}
    | {"font-style", "font-weight"}
)
_MIXED = frozenset({"border", "text-shadow"})


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TAGS = _words(
    "span svg path line math semantics annotation mrow mi mn mo mtext mspace mstyle mfrac msqrt "
    "mroot msub msup msubsup munder mover munderover mtable mtr mtd mlabeledtr mpadded mphantom "
    "menclose merror ms"
)
_ATTRIBUTES = _words(
    "class aria-hidden xmlns display encoding accent accentunder columnalign columnlines "
    "columnspacing rowlines rowspacing depth displaystyle fence form height largeop linebreak "
    "linethickness lspace mathbackground mathcolor mathsize mathvariant maxsize minsize "
    "movablelimits notation rspace scriptlevel separator side stretchy valign voffset width "
    "viewBox preserveAspectRatio d x1 x2 y1 y2 stroke-width"
)
_TAG = re.compile(r"<(/?)([a-zA-Z]+)([^<>]*?)(/?)>")
_ATTRIBUTE = re.compile(r'\s+([a-zA-Z][a-zA-Z0-9-]*)\s*=\s*"([^"<>]*)"')


class LengthError(ValueError):
    """A formula asks for a space or a box that would overflow the page."""

    def __init__(self, length: str, limit_em: float) -> None:
        super().__init__(f"{length} is more than {limit_em:g}em")
        self.length = length
        self.limit_em = limit_em


class MathStylesheet:
    """Collects the styles of all formulas of one call; deterministic."""

    def __init__(self) -> None:
        self._rules: dict[str, str] = {}
        self._tags: dict[str, str] = {}

    def rewrite(self, markup: str) -> str:
        """Return the markup with classes for styles.

        Raises `LengthError` for an oversized space, `RenderError` for markup that KaTeX never
        writes.
        """
        rest = _TAG.sub("", markup)
        if "<" in rest or ">" in rest:
            raise RenderError("The formula renderer wrote markup that cannot be read.")
        return _TAG.sub(self._rewrite_tag, markup)

    def css(self) -> str:
        """Return the style sheet, rules in the order of their class names.

        `!important` gives a class the precedence of the inline style that it replaces; KaTeX's own
        style sheet would win otherwise.
        """
        return "".join(f".{name}{{{self._rules[name]}}}\n" for name in sorted(self._rules))

    def _rewrite_tag(self, match: re.Match[str]) -> str:
        tag = match.group(0)
        known = self._tags.get(tag)
        if known is None:
            known = self._tags[tag] = self._checked_tag(*match.groups())
        return known

    def _checked_tag(self, slash: str, name: str, attributes: str, end: str) -> str:
        if name not in _TAGS or _ATTRIBUTE.sub("", attributes).strip():
            raise RenderError(f"The formula renderer wrote an unexpected element: {name}.")
        kept: list[str] = []
        classes: list[str] = []
        for attribute, value in _ATTRIBUTE.findall(attributes):
            if attribute == "style":
                classes += self._class_for(html.unescape(value))
            elif attribute == "class":
                classes = value.split() + classes
            elif attribute in _ATTRIBUTES:
                kept.append(f' {attribute}="{value}"')
            else:
                raise RenderError(
                    f"The formula renderer wrote an unexpected attribute: {attribute}."
                )
        class_text = f' class="{" ".join(classes)}"' if classes else ""
        return f"<{slash}{name}{class_text}{''.join(kept)}{end}>"

    def _class_for(self, style: str) -> list[str]:
        declarations = _declarations(style)
        if not declarations:
            return []
        rule = ";".join(f"{name}:{value}!important" for name, value in declarations)
        class_name = "m-" + hashlib.sha256(rule.encode()).hexdigest()[:8]
        if self._rules.setdefault(class_name, rule) != rule:
            raise RenderError("Two formula styles have the same name; this needs a longer hash.")
        return [class_name]


def _declarations(style: str) -> list[tuple[str, str]]:
    """Return the known declarations of a style; KaTeX also writes `false`, which means none."""
    if style.strip() in {"", "false", "undefined"}:
        return []
    found: list[tuple[str, str]] = []
    for declaration in filter(str.strip, style.split(";")):
        name, colon, value = (part.strip() for part in declaration.partition(":"))
        if not colon or not _valid(name, value):
            raise RenderError(f"The formula renderer wrote an unexpected style: {name}.")
        found.append((name, " ".join(value.split())))
    return found


def _valid(name: str, value: str) -> bool:
    words = value.split()
    if not words:
        return False
    if name == "width" and _WIDTH_BESIDE_A_SKEW.fullmatch(value):
        return True
    if name in _LENGTHS:
        return all(_valid_length(name, word) for word in words)
    if name in _COLORS:
        return len(words) == 1 and _COLOR.fullmatch(value) is not None
    if name in _WORDS:
        return value in _KEYWORDS
    if name in _MIXED:
        return all(
            _valid_length(name, word) or word in _KEYWORDS or _COLOR.fullmatch(word)
            for word in words
        )
    return False


def _valid_length(name: str, word: str) -> bool:
    match = _LENGTH.fullmatch(word)
    if match is None:
        return False
    if match.group(2) in {"%", "px"}:
        return True
    limit = MAX_ARRAY_HEIGHT_EM if name in _VERTICAL else MAX_LENGTH_EM
    if abs(float(match.group(1))) > limit + 1e-9:
        raise LengthError(word, limit)
    return True
