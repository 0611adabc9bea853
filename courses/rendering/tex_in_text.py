"""LaTeX commands in text, outside of formulas: what to write instead."""

from __future__ import annotations

_LIST = "a Markdown list: lines that begin with - or 1."
_HEADING = "a Markdown heading: ### Title"
_LINK = "a link to its place, as in [formula](#formula-key)"
_REFERENCE = "a link or a footnote, as in [the paper](https://...) or [^name]"
_INSTEAD = {
    "textbf": "**bold**",
    "bf": "**bold**",
    "emph": "*emphasis*",
    "textit": "*emphasis*",
    "it": "*emphasis*",
    "texttt": "`code`",
    "verb": "`code`",
    "lstinline": "`code`",
    "underline": "*emphasis*",
    "cite": _REFERENCE,
    "citep": _REFERENCE,
    "citet": _REFERENCE,
    "ref": _LINK,
    "eqref": _LINK,
    "cref": _LINK,
    "autoref": _LINK,
    "label": "nothing: formulas, steps and headings have addresses of their own",
    "section": _HEADING,
    "subsection": _HEADING,
    "subsubsection": _HEADING,
    "paragraph": _HEADING,
    "item": _LIST,
    "footnote": "a footnote: [^name], and [^name]: its text in a paragraph of its own",
    "url": "the address itself, as in <https://...>",
    "href": "[text](https://...)",
    "includegraphics": "a picture, as in ![what it shows](/static/...)",
}


def advice_on(command: str) -> str:
    """Return what is wrong with a command in text, and what to do."""
    instead = _INSTEAD.get(command)
    remedy = (
        f"Write {instead}."
        if instead
        else "Put it between dollar signs if it belongs to a formula, or between backticks if it "
        "is to be shown as it is."
    )
    return f"\\{command} is a command of LaTeX, which is read in formulas only. {remedy}"
