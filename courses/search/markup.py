"""From the HTML of a published page to words: text by heading, formulas as their TeX."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from html.parser import HTMLParser

from .words import SIGNS, word_set

_BLOCKS = word_set(
    "p li ul ol dl dt dd table tr td th div pre blockquote figure figcaption h3 h4 h5 h6 br hr "
    "summary details"
)
_VOID = frozenset({"br", "hr", "img"})
_HEADING = re.compile(r"h[3-6]")
_COMMANDS = {
    **{name: sign for sign, name in SIGNS.items()},
    **{"cdot": "·", "times": "×", "to": "→", "mid": "|", "lvert": "|", "rvert": "|", "dots": "…"},
    **{"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "theta": "θ"},
    **{"lambda": "λ", "mu": "μ", "nu": "ν", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ"},
    **{"phi": "φ", "psi": "ψ", "omega": "ω", "eta": "η", "text": "", "mathbb": "", "mathrm": ""},
    **{"operatorname": "", "displaystyle": "", "top": "T"},
    "quad": " ",
}
_WORDS = re.compile(r"\\(?:text|mathrm|operatorname)\s*\{([^{}]*)\}")
_SIZES = re.compile(r"\\(?:left|right|[bB]igg?[lr]?)(?![A-Za-z])")
# Groups are read from the inside: none of these has a group in its own.
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_ROOT = re.compile(r"\\sqrt\s*\{([^{}]*)\}")
_SCRIPT = re.compile(r"([\^_])\s*\{([^{}]*)\}")
_ARGUMENT = re.compile(r"\\(?![dt]?frac\b|sqrt\b)([A-Za-z]+)\s*\{([^{}]*)\}")
_GROUP = re.compile(r"(?<![\^_}A-Za-z])\{([^{}]*)\}")
_ONE = r"(?:\\[A-Za-z]+|[A-Za-z]|[\d.]+)"
_ONE_TOKEN = re.compile(_ONE)
_INDEX = re.compile(rf"{_ONE}|[A-Za-z\d]+")
# A name or number with its indices and exponents: in a fraction it needs no brackets.
_FACTOR = re.compile(rf"(?:\\partial\s*|√)?(?:{_ONE}|\w+)(?:[\^_]{_ONE})*")
_IN_BRACKETS = re.compile(r"\([^()]*\)")
DEEPEST_GROUP = 12
_HAT = re.compile(r"\\hat\s*(?:\{(\w)\}|(\w))")
# Placeholders for printed braces, while grouping ones are parsed.
_OPEN, _CLOSE = "\ue000", "\ue001"
_COMBINING_HAT = "\N{COMBINING CIRCUMFLEX ACCENT}"
_COMMAND = re.compile(r"\\([A-Za-z]+)(\s*)")


@dataclass(slots=True)
class Passage:
    """The text under one heading; `anchor` is the heading's id, empty before the first heading."""

    anchor: str = ""
    title: str = ""
    text: str = ""
    formulas: list[str] = field(default_factory=list)


def readable(tex: str) -> str:
    r"""Return TeX as a readable line of text: `\frac{1}{D}\gamma_i` as 1/D γ_i."""
    text = tex.replace(r"\{", _OPEN).replace(r"\}", _CLOSE)
    text = _SIZES.sub("", _WORDS.sub(r"\1", text))
    text = _HAT.sub(lambda match: (match[1] or match[2]) + _COMBINING_HAT, text)
    text = _without_groups(text)
    text = _COMMAND.sub(lambda match: _COMMANDS.get(match[1], match[1]) + match[2][:1], text)
    text = re.sub(r"\\[,;:!\s]", " ", text)
    text = re.sub(r"\s+", " ", re.sub(r"[{}\\&]", "", text)).strip()
    return unicodedata.normalize("NFC", text.replace(_OPEN, "{").replace(_CLOSE, "}"))


def _without_groups(tex: str) -> str:
    """Return TeX without groups: in brackets where the meaning would change without them."""
    for _ in range(DEEPEST_GROUP):
        before = tex
        tex = _FRACTION.sub(_fraction, tex)
        tex = _ROOT.sub(lambda match: f"√{_factor(match[1])}", tex)
        tex = _SCRIPT.sub(_script, tex)
        tex = _ARGUMENT.sub(_argument, tex)
        tex = _GROUP.sub(r"\1", tex)
        if tex == before:
            break
    return tex


def _fraction(match: re.Match[str]) -> str:
    # What follows is no part of the denominator.
    follows = re.match(r"[\\A-Za-z\d(]", match.string[match.end() :])
    return f"{_over(match[1])}/{_factor(match[2])}" + (" " if follows else "")


def _script(match: re.Match[str]) -> str:
    inner = match[2].strip()
    is_one = (_INDEX if match[1] == "_" else _ONE_TOKEN).fullmatch(inner)
    return match[1] + (inner if is_one else _bracketed(inner)) + (" " if inner[:1] == "\\" else "")


def _argument(match: re.Match[str]) -> str:
    is_silent = _COMMANDS.get(match[1]) == ""
    return match[2] if is_silent else f"\\{match[1]} {match[2]}"


def _over(tex: str) -> str:
    """Return a numerator: a product needs no brackets, a sum does."""
    tex = tex.strip()
    return _bracketed(tex) if re.search(r"[-+/=<>,]", _IN_BRACKETS.sub("", tex)) else tex


def _factor(tex: str) -> str:
    tex = tex.strip()
    return tex if _FACTOR.fullmatch(tex) else _bracketed(tex)


def _bracketed(tex: str) -> str:
    return tex if not tex or _IN_BRACKETS.fullmatch(tex) else f"({tex})"


def passages(html: str) -> list[Passage]:
    """Return the non-empty passages of a text."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    for passage in reader.passages:
        passage.title = _tidy(passage.title)
        passage.text = _tidy(passage.text)
    return [p for p in reader.passages if p.title or p.text or p.formulas]


def plain_text(html: str) -> str:
    """Return the words of a piece of HTML in one line, headings included."""
    return " ".join(f"{passage.title} {passage.text}".strip() for passage in passages(html))


def _tidy(text: str) -> str:
    return re.sub(r"\s+([,.;:!?)])", r"\1", re.sub(r"\s+", " ", text)).strip()


class _Reader(HTMLParser):
    """Reads KaTeX's formulas by the TeX that they carry, and skips their glyphs."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.passages = [Passage()]
        self._in_heading = False
        self._tex: list[str] | None = None
        # How deep in an element whose text is left out, 0 outside.
        self._skipping = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "annotation":
            self._tex = []
        elif self._skipping:
            self._skipping += tag not in _VOID
        elif {"katex-mathml", "katex-html"} & set((attributes.get("class") or "").split()):
            self._skipping = 1
        elif _HEADING.fullmatch(tag) and attributes.get("id"):
            self.passages.append(Passage(anchor=attributes["id"] or ""))
            self._in_heading = True
        elif tag in _BLOCKS:
            self._write(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag == "annotation" and self._tex is not None:
            tex = "".join(self._tex)
            self._tex = None
            self.passages[-1].formulas.append(tex)
            self._write(f"{readable(tex)}")
        elif self._skipping:
            self._skipping -= tag not in _VOID
        elif _HEADING.fullmatch(tag):
            self._in_heading = False
            self._write(" ")
        elif tag in _BLOCKS:
            self._write(" ")

    def handle_data(self, data: str) -> None:
        if self._tex is not None:
            self._tex.append(data)
        elif not self._skipping:
            self._write(data)

    def _write(self, text: str) -> None:
        if self._in_heading:
            self.passages[-1].title += text
        else:
            self.passages[-1].text += text
