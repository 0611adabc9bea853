"""The edition of the public pages: a number that says whether a page set earlier still holds.

Every write to something that these pages show takes it on by one, in the writer's transaction.
A page set while the number was n may be shown until the number is no longer n: the number is read
before the page is set, so a page can only be newer than its number, never older.
"""

from __future__ import annotations

from typing import Any

from django.db import connection, models
from django.db.models import F
from django.db.models.signals import post_delete, post_save

from courses.models import Edition


def current() -> int:
    """Return the number; one short query, without the ORM since every public page asks for it."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT number FROM {Edition._meta.db_table}")  # noqa: S608  own name
        row = cursor.fetchone()
    return row[0] if row else 0


def advance() -> None:
    """Say that something public changed. Queries that pass the signals by call it themselves."""
    if not Edition.objects.filter(pk=Edition.ONLY_ID).update(number=F("number") + 1):
        Edition.objects.get_or_create(pk=Edition.ONLY_ID, defaults={"number": 1})


def advances_with(*shown: type[models.Model]) -> None:
    """Let each save and each deletion of these models make a new edition."""
    for model in shown:
        for signal in (post_save, post_delete):
            signal.connect(_advance, sender=model, dispatch_uid=f"edition {model._meta.label}")


def _advance(sender: type[models.Model], raw: bool = False, **kwargs: Any) -> None:
    advance()
