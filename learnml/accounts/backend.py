"""Authentication by name or confirmed address, in the same time whether or not they exist."""

from __future__ import annotations

from typing import Any, NoReturn

from allauth.account.auth_backends import AuthenticationBackend
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from courses.accounts.names import find_account


class AccountBackend(AuthenticationBackend):
    """Checks one account and one password, so that timing does not reveal which accounts exist.

    Only a confirmed address identifies an account. Anybody can enter any address in an account of
    their own; if that could sign in, a refusal would reveal that the address is another account's.
    """

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> User | None:
        password = credentials.get("password")
        login = credentials.get("username") or credentials.get("email")
        if not password or not login:
            return None
        account = _find(login)
        if account is None:
            # Spend the time of checking a password.
            User().set_password(password)
            _refuse()
        if not account.check_password(password):
            _refuse()
        if not self.user_can_authenticate(account):
            # allauth then says that the account is not active.
            self._stash_user(account)
            _refuse()
        return account


def _find(login: str) -> User | None:
    if "@" in login and "\0" not in login:
        confirmed = EmailAddress.objects.filter(email=login.lower(), verified=True)
        if address := confirmed.select_related("user").first():
            owner: User = address.user
            return owner
    return find_account(login)


def _refuse() -> NoReturn:
    """Stop the search: the backends after this one only serve existing sessions."""
    raise PermissionDenied
