"""Account names: found whatever their case, and no two look alike."""

from __future__ import annotations

import hashlib
import unicodedata

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max, Q, QuerySet

from courses.models import AccountName

from .confusables import skeleton

DELETED_PREFIX = "deleted-"
"""Begins the names of what is kept of deleted accounts, and those of nobody else."""

TAKEN = "There is an account with this name, or one that looks like it. Choose another one."


def normalized(name: str) -> str:
    """Return the name as it is stored: one spelling for what is the same character (NFKC)."""
    return unicodedata.normalize("NFKC", name)


def folded(name: str) -> str:
    """Return the name without its case, for look-ups."""
    return unicodedata.normalize("NFKC", normalized(name).casefold())


def looks(name: str) -> dict[str, str]:
    """Return digests of how a name looks as written, and how it looks without its case.

    `Ian` looks like `lan` as written, and like `IAN` without the case; `IAN` and `lan` differ.
    """
    kinds = {"look": normalized(name), "folded_look": folded(name)}
    return {kind: _digest(skeleton(text)) for kind, text in kinds.items()}


def find_account(name: str) -> User | None:
    """Return the account of a name, whatever the case; None where there is none.

    Where names differ in nothing but their case, as they could in the past, only the exact one is
    found.
    """
    if "\0" in name:  # PostgreSQL refuses such a text, and no account has one for its name.
        return None
    if exact := User.objects.filter(username=name).first():
        return exact
    found = list(User.objects.filter(account_name__folded=folded(name))[:2])
    return found[0] if len(found) == 1 else None


def similar(name: str, account: User | None = None) -> QuerySet[AccountName]:
    """Return the names of other accounts that look like this one."""
    own = looks(name)
    alike = AccountName.objects.filter(
        Q(look=own["look"]) | Q(folded_look=own["folded_look"]) | Q(folded=folded(name))
    )
    return alike if account is None else alike.exclude(user=account)


def check_free(name: str, account: User | None = None) -> None:
    """Check that an account, or a new one where None, can take this name.

    Raises:
        ValidationError: it looks like another account's, or is not a usable name.
    """
    if skeleton(folded(name)).startswith(skeleton(DELETED_PREFIX)):
        raise ValidationError(f"No name begins with {DELETED_PREFIX}. Choose another one.")
    if similar(name, account).exists():
        raise ValidationError(TAKEN, code="username_taken")


def note(account: User) -> None:
    """Store how an account's name is found and what it looks like. The table refuses a confusable
    one.

    Raises:
        IntegrityError: another account took such a name at the same moment.
    """
    values = {"folded": folded(account.username), **looks(account.username), "place": 0}
    AccountName.objects.update_or_create(user=account, defaults=values)


def note_missing() -> int:
    """Store the names of accounts that were made without `save`; return how many there were.

    A name that looks like an earlier one is kept as it is, with the place 1, 2, 3 ... among its
    likes.
    """
    missing = User.objects.filter(account_name=None).order_by("pk")
    for account in missing:
        with transaction.atomic():
            highest = similar(account.username).aggregate(place=Max("place"))["place"]
            place = 0 if highest is None else highest + 1
            values = {"folded": folded(account.username), **looks(account.username)}
            AccountName.objects.create(user=account, place=place, **values)
    return len(missing)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
