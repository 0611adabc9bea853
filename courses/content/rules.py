"""Validation rules across the fields of a chapter; each message says what to do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from courses.rendering import SourceError

from .question_rules import question_errors, repeated
from .schema import (
    CHAPTER_FILE,
    OUTPUT_SUFFIX,
    ChapterContent,
    ListingContent,
)

Errors = dict[str, list[SourceError]]


def broken_rules(content: ChapterContent, published: bool = True) -> Errors:
    """Return the violated rules by field path (see `ContentError`)."""
    errors: Errors = defaultdict(list)
    _unique_keys(content, errors)
    _references(content, errors)
    for listing in content.listings:
        _listing_lines(listing, errors)
    for question in content.questions:
        for field, found in question_errors(question).items():
            errors[field] += found
    if published and "quiz" in content.requirements and not content.questions:
        _add(
            errors,
            "requirements",
            "The chapter requires its quiz but has no question, so nobody could complete it. "
            "Add a question, or take quiz out of the requirements.",
        )
    return dict(errors)


def _add(errors: Errors, field: str, message: str, line: int = 1, excerpt: str = "") -> None:
    errors[field].append(SourceError(line=line, column=1, message=message, excerpt=excerpt))


def _unique_keys(content: ChapterContent, errors: Errors) -> None:
    groups: dict[str, Sequence[str]] = {
        "formulas": [part.key for part in content.formulas],
        "steps": [part.key for part in content.steps],
        "mechanism": [part.key for part in content.mechanism],
        "listings": [part.filename for part in content.listings],
        "figures": [part.key for part in content.figures],
        "questions": [part.key for part in content.questions],
        "requirements": content.requirements,
    }
    for field, keys in groups.items():
        for key in repeated(keys):
            _add(errors, field, f"“{key}” stands here twice. Give each its own name.")
    _filenames(content.listings, errors)
    # Named lines become anchors on the page, so two listings cannot share one.
    seen: set[str] = set()
    for listing in content.listings:
        for line in listing.lines:
            if line.key in seen:
                _add(
                    errors,
                    f"listings/{listing.filename}/lines",
                    f"The name “{line.key}” is used twice in this chapter. Give each line its own.",
                )
            seen.add(line.key)


def _filenames(listings: Sequence[ListingContent], errors: Errors) -> None:
    reserved = {CHAPTER_FILE} | {listing.filename + OUTPUT_SUFFIX for listing in listings}
    for listing in listings:
        if listing.filename in reserved:
            _add(
                errors,
                f"listings/{listing.filename}/filename",
                f"“{listing.filename}” is the name of another file of the chapter's folder. "
                "Choose another name.",
            )


def _references(content: ChapterContent, errors: Errors) -> None:
    formulas = [formula.key for formula in content.formulas]
    lines = [line.key for listing in content.listings for line in listing.lines]
    for step in content.steps:
        if step.formula is not None and step.formula not in formulas:
            _add(
                errors,
                f"steps/{step.key}/formula",
                f"No formula of this chapter has the key “{step.formula}”. {_known(formulas)}",
            )
        if step.line is not None and step.line not in lines:
            _add(
                errors,
                f"steps/{step.key}/line",
                f"No listing of this chapter names a line “{step.line}”. {_known(lines)}",
            )


def _known(keys: Sequence[str]) -> str:
    return f"There are: {', '.join(keys)}." if keys else "There are none yet."


def _listing_lines(listing: ListingContent, errors: Errors) -> None:
    count = len(listing.code.removesuffix("\n").split("\n"))
    taken: dict[int, str] = {}
    field = f"listings/{listing.filename}/lines"
    for line in listing.lines:
        if line.line > count:
            _add(
                errors,
                field,
                f"Line {line.line}, named “{line.key}”, does not exist: "
                f"{listing.filename} has {count} lines.",
            )
        elif line.line in taken:
            _add(
                errors,
                field,
                f"Line {line.line} is named twice, “{taken[line.line]}” and “{line.key}”. "
                "Give it one name.",
            )
        taken.setdefault(line.line, line.key)
