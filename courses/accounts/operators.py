"""One account that can run the site stays."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import QuerySet


class LastOperatorError(Exception):
    """The account is the only one left that can run the site."""

    def __str__(self) -> str:
        return (
            "This is the only account that can run the site. Give another account the same rights "
            "first."
        )


def keep_an_operator(user: User) -> None:
    """Hold, within a transaction, that others than `user` can run the site.

    Raises:
        LastOperatorError: the account can and no other.
    """
    list(_operators().select_for_update().values_list("pk", flat=True))
    if is_last_operator(user):
        raise LastOperatorError


def is_last_operator(user: User) -> bool:
    """Return whether the account, as it is stored, can run the site and no other can."""
    return list(_operators().values_list("pk", flat=True)[:2]) == [user.pk]


def _operators() -> QuerySet[User]:
    return User.objects.filter(is_superuser=True, is_active=True)
