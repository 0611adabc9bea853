"""Audit entries for acts on accounts, by whatever way: pages, the admin, the API, commands.

Third-party code performs these acts (sign-in, the admin's forms, the shell), so signals report
them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.contrib.auth.models import Group, Permission, User
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.db import DatabaseError, transaction
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_save
from django.http import HttpRequest

from courses.accounts.names import find_account
from grader.models import AuditAction
from grader.origin import current_origin, current_user

from .audit import changes, record_act

RIGHTS: Final = ("is_active", "is_staff", "is_superuser")
WATCHED: Final = ("username", *RIGHTS)
_NO_RIGHTS: Final = {"is_active": True, "is_staff": False, "is_superuser": False}

logger = logging.getLogger(__name__)


def connect() -> None:
    """Connect the receivers; called once, when the apps are ready."""
    user_logged_in.connect(_signed_in, dispatch_uid="grader.signed_in")
    user_login_failed.connect(_sign_in_failed, dispatch_uid="grader.sign_in_failed")
    pre_save.connect(_before_saving, sender=User, dispatch_uid="grader.before_saving")
    post_save.connect(_saved, sender=User, dispatch_uid="grader.saved")
    post_delete.connect(_deleted, sender=User, dispatch_uid="grader.deleted")
    for field in (User.groups, User.user_permissions):
        m2m_changed.connect(
            _rights_changed, sender=field.through, dispatch_uid=f"grader.{field.field.name}"
        )
    m2m_changed.connect(
        _group_changed, sender=Group.permissions.through, dispatch_uid="grader.group"
    )


def target_of(user: User) -> str:
    return f"user:{user.get_username()}"


def _signed_in(sender: Any, user: User, **_: Any) -> None:
    record_act(user, AuditAction.SIGNED_IN, target_of(user))


def _sign_in_failed(
    sender: Any, credentials: Mapping[str, Any], request: HttpRequest | None = None, **_: Any
) -> None:
    """Record a failed sign-in. The input is not kept: it may have been the password."""
    user = _meant(credentials)
    try:
        with transaction.atomic():
            record_act(None, AuditAction.SIGN_IN_FAILED, target_of(user) if user else "user")
    except DatabaseError:
        # On a full disk, say, the answer matters more than the entry.
        logger.exception("A failed sign-in could not be written down.")


def _meant(credentials: Mapping[str, Any]) -> User | None:
    """Return the account of the given name or e-mail address, or None."""
    given = [
        str(value)
        for name in ("username", "email", "login")
        if (value := credentials.get(name)) and "\0" not in str(value)
    ]
    for text in given:
        if account := find_account(text):
            return account
    return User.objects.filter(email__in=[text.lower() for text in given]).order_by("pk").first()


def _before_saving(sender: Any, instance: User, update_fields: Any = None, **_: Any) -> None:
    is_watched = update_fields is None or not set(WATCHED).isdisjoint(update_fields)
    known = User.objects.filter(pk=instance.pk).values(*WATCHED).first() if is_watched else None
    instance._values_before = known  # type: ignore[attr-defined]


def _saved(sender: Any, instance: User, created: bool, raw: bool = False, **_: Any) -> None:
    former = getattr(instance, "_values_before", None)
    if raw or (former is None and not created):
        return
    now = {name: getattr(instance, name) for name in WATCHED}
    before, after = changes(former or {**_NO_RIGHTS, "username": instance.username}, now)
    if "username" in after:
        names = {"before": {"username": before.pop("username")}}
        names["after"] = {"username": after.pop("username")}
        record_act(current_user(), AuditAction.ACCOUNT_RENAMED, target_of(instance), **names)
    if after:
        record_act(
            current_user(),
            AuditAction.ROLES_CHANGED,
            target_of(instance),
            before=None if created else before,
            after=after,
        )


def _deleted(sender: Any, instance: User, **_: Any) -> None:
    record_deletion(instance)


def record_deletion(user: User, **detail: Any) -> None:
    """Record the deletion of an account, including one whose row stays for its work."""
    actor = current_user()
    rights = {name: getattr(user, name) for name in RIGHTS}
    if actor is not None and actor.get_username() == user.get_username():
        # Entries never refer to rows that are deleted or made anonymous.
        actor = User(username=user.get_username())
    record_act(actor, AuditAction.ACCOUNT_DELETED, target_of(user), before=rights, **detail)


def _rights_changed(
    sender: Any, instance: Any, action: str, reverse: bool, pk_set: set[int] | None, **_: Any
) -> None:
    """Record an account's groups and permissions, before and after."""
    users = _users_meant(sender, instance, reverse, pk_set)
    if action.startswith("pre_"):
        instance._rights_before = {user.pk: _rights_of(sender, user) for user in users}
        return
    before = getattr(instance, "_rights_before", {})
    for user in User.objects.filter(pk__in=before).order_by("pk"):
        had, has = before[user.pk], _rights_of(sender, user)
        if had != has:
            record_act(
                current_user(), AuditAction.ROLES_CHANGED, target_of(user), before=had, after=has
            )


def _users_meant(
    through: Any, instance: Any, reverse: bool, pk_set: set[int] | None
) -> Iterable[User]:
    if not reverse:
        return [instance]
    if pk_set is not None:
        return User.objects.filter(pk__in=pk_set)
    return instance.user_set.all()


def _rights_of(through: Any, user: User) -> dict[str, list[str]]:
    if through is User.groups.through:
        return {"groups": sorted(user.groups.values_list("name", flat=True))}
    return {"permissions": _named(user.user_permissions.all())}


def _named(permissions: Iterable[Permission]) -> list[str]:
    names = Permission.objects.filter(pk__in=[each.pk for each in permissions])
    return [
        f"{app}.{codename}"
        for app, codename in names.order_by("content_type__app_label", "codename").values_list(
            "content_type__app_label", "codename"
        )
    ]


def _group_changed(sender: Any, instance: Any, action: str, **_: Any) -> None:
    """Record a person's change to a group; those of the four roles are in the code."""
    if current_origin().request is None or not isinstance(instance, Group):
        return
    now = _named(instance.permissions.all())
    if action.startswith("pre_"):
        instance._permissions_before = now  # type: ignore[attr-defined]
        return
    former = getattr(instance, "_permissions_before", now)
    if former != now:
        record_act(
            current_user(),
            AuditAction.ROLE_CHANGED,
            f"group:{instance.name}",
            before={"permissions": [each for each in former if each not in now]},
            after={"permissions": [each for each in now if each not in former]},
        )
