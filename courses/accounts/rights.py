"""Who may grant what: nobody grants more than they have, or takes over an account that has more.

Changing an account, its password or its email address means being able to sign in with it, so it
requires all of that account's permissions. An inactive account counts with those it would have when
active.
"""

from __future__ import annotations

from django.contrib.auth.models import Group, Permission, User
from django.db.models import Q, QuerySet


def permissions_of(user: User) -> QuerySet[Permission]:
    """Return the permissions that a user may grant: all for a superuser, otherwise their own.

    Read from the database at each call, for inactive accounts too.
    """
    if user.is_superuser:
        return Permission.objects.all()
    return Permission.objects.filter(
        Q(pk__in=Permission.objects.filter(user=user).values("pk"))
        | Q(pk__in=Permission.objects.filter(group__user=user).values("pk"))
    )


def groups_within(user: User) -> QuerySet[Group]:
    """Return the groups whose every permission the user has."""
    beyond = Permission.objects.exclude(pk__in=permissions_of(user).values("pk"))
    return Group.objects.exclude(permissions__in=beyond)


def may_manage_account(by: User, account: User) -> bool:
    """Return whether an account has no permission that `by` lacks; always true of their own."""
    if by.is_superuser:
        return True
    if account.is_superuser or (account.is_staff and not by.is_staff):
        return False
    beyond = permissions_of(account).exclude(pk__in=permissions_of(by).values("pk"))
    return not beyond.exists()


def may_manage_group(by: User, group: Group) -> bool:
    """Return whether a group carries nothing that `by` lacks."""
    return groups_within(by).filter(pk=group.pk).exists()
