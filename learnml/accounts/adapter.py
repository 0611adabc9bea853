"""Account policy, in the form of allauth's adapter."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.core.internal.ratelimit import truncate_ip
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest

from courses.accounts import names
from learnml.errors import too_many_requests

from .rates import WINDOW_SECONDS


class AccountAdapter(DefaultAccountAdapter):
    """Counts wrong passwords by name and address together.

    Counting by name alone would let anybody lock a learner out by guessing wrong on purpose.
    Guesses from one address are also limited over all names.
    """

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "username_taken": names.TAKEN,
        "username_password_mismatch": "The user name or the password is not right.",
        "email_password_mismatch": "The email address or the password is not right, or the address "
        "was never confirmed. The user name always works.",
    }

    def clean_username(self, username: str, shallow: bool = False) -> str:
        name: str = super().clean_username(names.normalized(username), shallow=True)
        if "@" in name:
            raise ValidationError(
                "A user name has no @. Your email address has a field of its own, if you like."
            )
        if not shallow:
            names.check_free(name)
        return name

    def save_user(
        self, request: HttpRequest, user: AbstractBaseUser, form: Any, commit: bool = True
    ) -> AbstractBaseUser:
        # Hashes the password, so outside of the transaction.
        super().save_user(request, user, form, commit=False)
        if commit:
            # Together with its name, or not at all.
            with transaction.atomic():
                user.save()
        return user

    def set_password(self, user: AbstractBaseUser, password: str) -> None:
        user.set_password(password)
        # Together with everything that the old one ends, or not at all.
        with transaction.atomic():
            user.save()

    def send_confirmation_mail(
        self, request: HttpRequest, emailconfirmation: Any, signup: bool
    ) -> None:
        """Send the link, or say that another account has the address: one e-mail in any case."""
        address: EmailAddress = emailconfirmation.email_address
        if address.can_set_verified():
            super().send_confirmation_mail(request, emailconfirmation, signup)
        else:
            self.send_account_already_exists_mail(address.email)

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError as error:
            raise ImmediateHttpResponse(too_many_requests(request, WINDOW_SECONDS)) from error

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        login = str(credentials.get("email") or credentials.get("username") or "")
        address = truncate_ip(self.get_client_ip(request))
        return f"{names.folded(login)}:{address}"
