"""The outline of a chapter's page: its sections with the items in them, and its symbols.

Both are computed from the published page alone, so old revisions have them too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from courses.search.markup import passages, readable


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A section or an item in it; `id` is its anchor."""

    id: str
    title: str
    places: tuple[OutlineEntry, ...] = ()


@dataclass(slots=True)
class Meaning:
    """One meaning of a symbol, and the formulas (key, number, title) that use it."""

    name: str
    shape: str
    formulas: list[Mapping[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Symbol:
    """A symbol with every meaning that the chapter gives it."""

    html: str
    tex: str
    meanings: list[Meaning] = field(default_factory=list)


def outline_of(page: Mapping[str, Any]) -> tuple[OutlineEntry, ...]:
    """Return the sections of a page in order, each with its items."""
    return tuple(
        OutlineEntry(heading["id"], heading["title"], tuple(_inside(page, heading["id"])))
        for heading in page["headings"]
    )


def _inside(page: Mapping[str, Any], section: str) -> Iterator[OutlineEntry]:
    if section == "part-intuition":
        for passage in passages(page["intuition_html"]):
            if passage.anchor:
                yield OutlineEntry(passage.anchor, passage.title)
    elif section == "part-formulas":
        for formula in page["formulas"]:
            yield OutlineEntry(f"formula-{formula['key']}", formula["title"])
    elif section == "part-derivation":
        for step in page["steps"]:
            yield OutlineEntry(f"step-{step['key']}", f"{step['number']}. {step['title']}")
    elif section == "part-mechanism":
        for part in page["mechanism"]:
            yield OutlineEntry(f"mechanism-{part['key']}", f"{part['number']}. {part['title']}")


def symbols_of(page: Mapping[str, Any]) -> list[Symbol]:
    """Return the symbols of all formulas, once each: Latin letters, then Greek ones, then signs.

    A sign may mean different things in different formulas (the sigma of a variance and that of an
    activation): it is listed once, with each meaning and where it applies.
    """
    symbols: dict[str, Symbol] = {}
    for formula in page["formulas"]:
        for entry in formula["symbols"]:
            key = "".join(entry["tex"].split())
            symbol = symbols.setdefault(key, Symbol(entry["html"], entry["tex"]))
            _meaning(symbol, entry["name"], entry["shape"]).formulas.append(formula)
    return sorted(symbols.values(), key=_order)


def _meaning(symbol: Symbol, name: str, shape: str) -> Meaning:
    for meaning in symbol.meanings:
        if (meaning.name, meaning.shape) == (name, shape):
            return meaning
    symbol.meanings.append(Meaning(name, shape))
    return symbol.meanings[-1]


def _order(symbol: Symbol) -> tuple[int, str, str]:
    text = re.sub(r"^[^\w]+", "", readable(symbol.tex)) or symbol.tex
    first = unicodedata.name(text[0], "")
    group = 0 if first.startswith("LATIN") else 1 if first.startswith("GREEK") else 2
    return (group, text.casefold(), text)
