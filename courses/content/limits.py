"""Size limits for a chapter, with messages for its author."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from courses.rendering import SourceError

from .schema import (
    MAX_CHAPTER_BYTES,
    MAX_PARTS,
    MAX_ROWS_OF_A_PART,
    QUESTION_ROWS,
    ChapterContent,
)

PARTS = ("formulas", "steps", "mechanism", "listings", "figures", "questions")
_ROWS = ("symbols", *QUESTION_ROWS)


def exceeded_limits(content: ChapterContent) -> dict[str, list[SourceError]]:
    """Return the limits that a chapter exceeds, by field path."""
    errors: dict[str, list[SourceError]] = {}
    data = content.model_dump()
    parts = {name: len(data[name]) for name in PARTS}
    if (number := sum(parts.values())) > MAX_PARTS:
        most = max(parts, key=lambda name: parts[name])
        errors[most] = _said(
            f"The chapter has {number:,} parts, {parts[most]:,} of them {most}; it may have "
            f"{MAX_PARTS:,}. Make two chapters of it."
        )
    for path, rows in _rows(data):
        if len(rows) > MAX_ROWS_OF_A_PART:
            errors[path] = _said(f"There are {len(rows)}; there may be {MAX_ROWS_OF_A_PART}.")
    texts = {path: len(text.encode()) for path, text in _texts(data)}
    if (total := sum(texts.values())) > MAX_CHAPTER_BYTES:
        longest = max(texts, key=lambda path: texts[path])
        errors.setdefault(longest, []).extend(
            _said(
                f"All texts of the chapter take {_kilobytes(total)} together; they may take "
                f"{_kilobytes(MAX_CHAPTER_BYTES)}. This one is the longest, with "
                f"{_kilobytes(texts[longest])}. Make two chapters of it."
            )
        )
    return errors


def _said(message: str) -> list[SourceError]:
    return [SourceError(line=1, column=1, message=message, excerpt="")]


def _kilobytes(number: int) -> str:
    return f"{number / 1024:,.0f} KB"


def _rows(data: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    for name in ("formulas", "questions"):
        for part in data[name]:
            for rows in _ROWS:
                if rows in part:
                    yield f"{name}/{part['key']}/{rows}", part[rows]


def _texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text of plain data with its path, rows by their keys, or counted from 1."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield from _texts(each, f"{path}/{name}" if path else str(name))
    elif isinstance(value, list):
        for place, each in enumerate(value, start=1):
            known = each.get("key") or each.get("filename") if isinstance(each, Mapping) else None
            yield from _texts(each, f"{path}/{known or place}")
