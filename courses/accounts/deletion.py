"""Deleting an account: all of it goes at once, except work that others still need, without its
name.

What belongs to an account is what the database would delete with its row. An app may keep rows of
its own for a while (`keep`). The account's row then stays too, stripped of everything that
identifies its owner, until `remove_kept` deletes both.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import models, transaction
from django.utils import timezone

from courses.models import DeletedAccount

from . import names
from .operators import keep_an_operator

REMOVED_AT_ONCE = 20
"""Accounts of which one call of `remove_kept` deletes what was kept."""
ROWS_AT_ONCE = 50
"""Rows that one transaction deletes: others write in between."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What an app keeps of deleted accounts.

    `until` returns until when an account's rows are kept, None for nothing. `note` runs within the
    deletion, with the user and the name that will replace theirs, or None where nothing is kept.
    """

    models: tuple[type[models.Model], ...]
    until: Callable[[User], datetime | None]
    note: Callable[[User, str | None, datetime | None], None]


_kept: list[Kept] = []


def keep(kept: Kept) -> None:
    """Register what an app keeps of deleted accounts; called once, when the apps are ready."""
    _kept.append(kept)


def kept_until(user: User) -> datetime | None:
    """Return until when an account's work would be kept; None where there is none to keep."""
    return max((until for kept in _kept if (until := kept.until(user))), default=None)


@transaction.atomic
def delete_account(user: User) -> datetime | None:
    """Delete an account with its progress, submissions and tokens.

    What others must be able to look up stays, without the account: who published a revision, and
    the record of what was done to grades. Return until when work stays, without the name, for those
    who grade it; None where none does.

    Raises:
        LastOperatorError: no other account can run the site.
    """
    keep_an_operator(user)
    until = kept_until(user)
    name = f"{names.DELETED_PREFIX}{secrets.token_hex(4)}" if until else None
    for kept in _kept:
        kept.note(user, name, until)
    if name is None or until is None:
        user.delete()
        return None
    _empty(user)
    # Without signals: nobody renamed the account or chose this password.
    User.objects.filter(pk=user.pk).update(
        username=name,
        password=make_password(None),
        first_name="",
        last_name="",
        email="",
        is_active=False,
        is_staff=False,
        is_superuser=False,
        last_login=None,
        date_joined=timezone.now(),
    )
    names.note(User.objects.get(pk=user.pk))
    DeletedAccount.objects.create(user_id=user.pk, kept_until=until)
    return until


def remove_kept(now: datetime | None = None) -> int:
    """Delete what was kept long enough; return the number of accounts."""
    over = DeletedAccount.objects.filter(kept_until__lte=now or timezone.now())
    accounts = User.objects.filter(pk__in=over.values_list("pk", flat=True)[:REMOVED_AT_ONCE])
    for account in accounts:
        for kept in _kept:
            for model in kept.models:
                _delete_in_parts(model, account)
        account.delete()
    return len(accounts)


def _delete_in_parts(model: type[models.Model], account: User) -> None:
    rows = model._default_manager.filter(user=account)
    while part := list(rows.values_list("pk", flat=True)[:ROWS_AT_ONCE]):
        model._default_manager.filter(pk__in=part).delete()


def _empty(user: User) -> None:
    """Delete and unlink what the database would delete with the account, except what is kept."""
    kept = {model for each in _kept for model in each.models}
    for relation in _relations():
        rows = relation.related_model._base_manager.filter(**{relation.field.name: user})
        if relation.on_delete is models.SET_NULL:
            rows.update(**{relation.field.name: None})
        elif relation.related_model not in kept:
            rows.delete()
    # The admin's own record of the account names it.
    about = ContentType.objects.get_for_model(User)
    LogEntry.objects.filter(content_type=about, object_id=str(user.pk)).delete()


def _relations() -> Iterator[Any]:
    for field in User._meta.get_fields(include_hidden=True):
        if field.auto_created and not field.concrete and (field.one_to_many or field.one_to_one):
            yield field
