"""The cache generation of the public pages: a number that says whether a cached page is current.

Every write to something that these pages show increments it, in the writer's transaction. A page
cached under number n is served while the number is n. The number is read before the page is
rendered, so a page can only be newer than its number, never older.
"""

from __future__ import annotations

from typing import Any

from django.db import connection, models
from django.db.models import F
from django.db.models.signals import post_delete, post_save

from courses.models import Edition


def current() -> int:
    """Return the generation; one short query, without the ORM since every public page asks."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT number FROM {Edition._meta.db_table}")  # noqa: S608  own name
        row = cursor.fetchone()
    return row[0] if row else 0


def advance() -> None:
    """Invalidate the cached pages. Code that writes without signals calls it itself."""
    if not Edition.objects.filter(pk=Edition.ONLY_ID).update(number=F("number") + 1):
        Edition.objects.get_or_create(pk=Edition.ONLY_ID, defaults={"number": 1})


def advances_with(*shown: type[models.Model]) -> None:
    """Advance the generation with each save and each deletion of these models."""
    for model in shown:
        for signal in (post_save, post_delete):
            signal.connect(_advance, sender=model, dispatch_uid=f"edition {model._meta.label}")


def _advance(sender: type[models.Model], raw: bool = False, **kwargs: Any) -> None:
    advance()
