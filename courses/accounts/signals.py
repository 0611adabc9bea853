"""Checks that run whenever an account is saved, from any page or command."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.contrib.auth.models import User
from django.db.models.signals import post_save, pre_save

from . import names

_NAME_CHANGES = "_name_changes"


def connect() -> None:
    pre_save.connect(check_name, sender=User, dispatch_uid="courses.accounts.check_name")
    post_save.connect(note_name, sender=User, dispatch_uid="courses.accounts.note_name")


def check_name(
    sender: type[User],
    instance: User,
    raw: bool,
    update_fields: Collection[str] | None,
    **kwargs: Any,
) -> None:
    """Refuse a new name that looks like another's. Forms check earlier, and say so at the field.

    Raises:
        ValidationError: it does.
    """
    may_change = not raw and (update_fields is None or "username" in update_fields)
    changes = may_change and _stored_name(instance) != instance.username
    setattr(instance, _NAME_CHANGES, changes)
    if changes:
        names.check_free(instance.username, instance if instance.pk else None)


def note_name(sender: type[User], instance: User, **kwargs: Any) -> None:
    if getattr(instance, _NAME_CHANGES, False):
        names.note(instance)


def _stored_name(account: User) -> str | None:
    return User.objects.filter(pk=account.pk).values_list("username", flat=True).first()
