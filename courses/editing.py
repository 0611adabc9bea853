"""Edit conflicts: the state of a row that a form shows, and who changed it since.

A form carries the state that it was loaded from. A save from an older state would silently undo
somebody else's edit, and is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

from courses.models import (
    Chapter,
    Choice,
    Course,
    DerivationStep,
    Figure,
    Formula,
    FormulaSymbol,
    Listing,
    MatchingPair,
    MechanismStep,
    NumericHint,
    OrderingItem,
    Question,
)

# For each model with a form: the models whose rows its state covers, and the path to it from them.
_COVERED: dict[type[models.Model], tuple[tuple[Any, str], ...]] = {
    Course: ((Course, "id"), (Chapter, "course")),
    Chapter: (
        (Chapter, "id"),
        (Formula, "chapter"),
        (FormulaSymbol, "formula__chapter"),
        (DerivationStep, "chapter"),
        (MechanismStep, "chapter"),
        (Listing, "chapter"),
        (Figure, "chapter"),
        (Question, "chapter"),
        (Choice, "question__chapter"),
        (NumericHint, "question__chapter"),
        (OrderingItem, "question__chapter"),
        (MatchingPair, "question__chapter"),
    ),
    Formula: ((Formula, "id"), (FormulaSymbol, "formula")),
    Question: (
        (Question, "id"),
        (Choice, "question"),
        (NumericHint, "question"),
        (OrderingItem, "question"),
        (MatchingPair, "question"),
    ),
}
# Fields that a form neither shows nor writes.
_BOOKKEEPING = {"current_revision_id", "imported_files_hash", "imported_content_hash"}
# A course's form changes only the order of its chapters.
_FIELDS_OF_COURSES_CHAPTERS = ("id", "position")


@dataclass(frozen=True, slots=True)
class Edit:
    """Who changed a row or one of its parts last (None: a command, such as an import), and when."""

    by: str | None
    at: datetime


def state_of(row: models.Model) -> str:
    """Return a hash of everything that the row's form can change, as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    for model, path in _COVERED[type(row)]:
        fields = _fields(type(row), model)
        rows = list(model.objects.filter(**{path: row.pk}).order_by("pk").values_list(*fields))
        digest.update(json.dumps(rows, cls=DjangoJSONEncoder).encode())
    return digest.hexdigest()


def last_edit(model: type[models.Model], pk: Any) -> Edit | None:
    """Return the last change to what `state_of` covers, including deletions; None if unknown."""
    last = max(_last_records(model, pk), key=lambda record: record.history_date, default=None)
    if last is None:
        return None
    return Edit(last.history_user and last.history_user.get_username(), last.history_date)


def _last_records(model: type[models.Model], pk: Any) -> Iterator[Any]:
    for covered, path in _COVERED[model]:
        records = covered.history.filter(**{path: pk}).select_related("history_user")
        record = records.order_by("-history_date", "-history_id").first()
        if record is not None:
            yield record


def _fields(form_of: type[models.Model], model: type[models.Model]) -> tuple[str, ...]:
    if form_of is Course and model is Chapter:
        return _FIELDS_OF_COURSES_CHAPTERS
    names = [field.attname for field in model._meta.concrete_fields]
    # The order of siblings is changed on the page that lists them.
    moved_elsewhere = {"position"} if form_of is model and form_of is not Course else set()
    return tuple(name for name in names if name not in _BOOKKEEPING | moved_elsewhere)
