"""Who may give what: nobody gives anybody more than they have, and takes over no account of more.

To change an account, its password or email address is to be able to sign in with it, so it takes
all rights that the account has. An inactive account counts with what it would have when active.
"""

from __future__ import annotations

from django.contrib.auth.models import Group, Permission, User
from django.db.models import Q, QuerySet


def permissions_of(user: User) -> QuerySet[Permission]:
    """Return what a user may give to others: all of it for a superuser, else what they were given.

    Read from the database at each call, also for accounts that are not active.
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
    """Return whether an account has nothing that `by` lacks; their own account has not."""
    if by.is_superuser:
        return True
    if account.is_superuser or (account.is_staff and not by.is_staff):
        return False
    beyond = permissions_of(account).exclude(pk__in=permissions_of(by).values("pk"))
    return not beyond.exists()


def may_manage_group(by: User, group: Group) -> bool:
    """Return whether a group carries nothing that `by` lacks."""
    return groups_within(by).filter(pk=group.pk).exists()
