"""At least one account that can run the site must remain."""

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
    """Check, within a transaction, that an account other than `user` can run the site.

    Raises:
        LastOperatorError: `user` is the only one that can.
    """
    list(_operators().select_for_update().values_list("pk", flat=True))
    if is_last_operator(user):
        raise LastOperatorError


def is_last_operator(user: User) -> bool:
    """Return whether the account, as it is stored, can run the site and no other can."""
    return list(_operators().values_list("pk", flat=True)[:2]) == [user.pk]


def _operators() -> QuerySet[User]:
    return User.objects.filter(is_superuser=True, is_active=True)
