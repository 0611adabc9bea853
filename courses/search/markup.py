"""From the HTML of a published page back to words: text by heading, formulas as their TeX."""

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
    **{"left": "", "right": "", "bigl": "", "bigr": "", "Bigl": "", "Bigr": "", "quad": " "},
}
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_WORDS = re.compile(r"\\(?:text|mathrm|operatorname)\s*\{([^{}]*)\}")
DEEPEST_FRACTION = 3
_HAT = re.compile(r"\\hat\s*(?:\{(\w)\}|(\w))")
_COMBINING_HAT = "\N{COMBINING CIRCUMFLEX ACCENT}"
_COMMAND = re.compile(r"\\([A-Za-z]+)(\s*)")


@dataclass(slots=True)
class Passage:
    """What stands under one heading; `anchor` is the heading's id, "" before the first heading."""

    anchor: str = ""
    title: str = ""
    text: str = ""
    formulas: list[str] = field(default_factory=list)


def readable(tex: str) -> str:
    r"""Return TeX as a line of text that people can read: `\frac{1}{D}\gamma_i` as 1/D γ_i."""
    text = _WORDS.sub(r"\1", tex)
    for _ in range(DEEPEST_FRACTION):
        text = _FRACTION.sub(r"\1/\2", text)
    text = _HAT.sub(lambda match: (match[1] or match[2]) + _COMBINING_HAT, text)
    text = _COMMAND.sub(lambda match: _COMMANDS.get(match[1], match[1]) + match[2][:1], text)
    text = re.sub(r"\\[,;:!\s]", " ", text)
    text = re.sub(r"\s+", " ", re.sub(r"[{}\\&]", "", text)).strip()
    return unicodedata.normalize("NFC", text)


def passages(html: str) -> list[Passage]:
    """Return the passages of a text with anything in them."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    for passage in reader.passages:
        passage.title = _tidy(passage.title)
        passage.text = _tidy(passage.text)
    return [p for p in reader.passages if p.title or p.text or p.formulas]


def plain_text(html: str) -> str:
    """Return the words of a piece of HTML on one line, headings among them."""
    return " ".join(f"{passage.title} {passage.text}".strip() for passage in passages(html))


def _tidy(text: str) -> str:
    return re.sub(r"\s+([,.;:!?)])", r"\1", re.sub(r"\s+", " ", text)).strip()


class _Reader(HTMLParser):
    """Reads KaTeX's formulas by the TeX that they carry, and skips what is drawn of them."""

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
