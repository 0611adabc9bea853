"""The end of an account."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction


class LastOperatorError(Exception):
    """The account is the only one left that can run the site."""

    def __str__(self) -> str:
        return (
            "This is the only account that can run the site. Give another account the same rights "
            "first."
        )


@transaction.atomic
def delete_account(user: User) -> None:
    """Delete an account with its progress, submissions and tokens.

    What others must be able to look up stays, without the account: who published a revision, and
    the record of what was done to grades.
    """
    keep_an_operator(user)
    user.delete()


def keep_an_operator(user: User) -> None:
    """Hold, within a transaction, that others than `user` can run the site.

    Raises:
        LastOperatorError: the account can and no other.
    """
    others = User.objects.select_for_update().filter(is_superuser=True, is_active=True)
    if user.is_superuser and not others.exclude(pk=user.pk).exists():
        raise LastOperatorError
