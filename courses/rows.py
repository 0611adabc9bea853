"""Bulk writes of rows with their history, in a few statements.

One by one, the parts of a long chapter take seconds to write, while nobody else can write.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from django.db import models, transaction
from django.utils import timezone

CREATED: Final = "+"
CHANGED: Final = "~"
DELETED: Final = "-"


def create_all(rows: Sequence[Any], reason: str = "") -> None:
    """Insert new rows of one model."""
    if not rows:
        return
    with transaction.atomic():
        type(rows[0])._base_manager.bulk_create(rows)
        _record(rows, CREATED, reason)


def update_all(rows: Sequence[Any], fields: Collection[str], reason: str = "") -> None:
    """Update `fields`, by name, of rows of one model."""
    if not rows or not fields:
        return
    with transaction.atomic():
        type(rows[0])._base_manager.bulk_update(rows, fields)
        _record(rows, CHANGED, reason)


def delete_all(rows: Sequence[Any], reason: str = "") -> None:
    """Delete rows of one model and everything that depends on them, dependants first."""
    if not rows:
        return
    model = type(rows[0])
    keys = [row.pk for row in rows]
    with transaction.atomic():
        for part in _parts_of(model):
            name = part.field.name
            delete_all(list(part.related_model._base_manager.filter(**{f"{name}__in": keys})))
        _record(rows, DELETED, reason)
        found = model._base_manager.filter(pk__in=keys)
        # Signals are not needed: dependants are gone, and the history is written.
        found._raw_delete(found.db)


def _parts_of(model: type[models.Model]) -> list[Any]:
    """Return the relations to owned rows of this model that have a history."""
    return [
        relation
        for relation in model._meta.related_objects
        if relation.on_delete is models.CASCADE and hasattr(relation.related_model, "history")
    ]


def _record(rows: Sequence[Any], kind: str, reason: str) -> None:
    """Write a history row for each row, as saving one by one would."""
    history = type(rows[0]).history.model
    by = history.get_default_history_user(rows[0])
    now = timezone.now()
    history.objects.bulk_create(
        [
            history(
                history_date=now,
                history_type=kind,
                history_user=by,
                history_change_reason=reason or None,
                **{field.attname: getattr(row, field.attname) for field in history.tracked_fields},
            )
            for row in rows
        ]
    )
