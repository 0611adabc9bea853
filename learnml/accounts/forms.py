"""allauth's forms, adapted to this site."""

from __future__ import annotations

from typing import Any

from allauth.account import forms as allauth_forms
from allauth.account.adapter import get_adapter
from allauth.account.utils import user_pk_to_url_str
from allauth.core.exceptions import ImmediateHttpResponse
from django import forms
from django.contrib.auth.models import User
from django.db import IntegrityError
from django.http import HttpRequest
from django.shortcuts import render
from django.urls import reverse

from courses.accounts import names
from grader.services import active_tokens, keep_tokens

MAX_ACCOUNTS_IN_A_LETTER = 20


class SignupForm(allauth_forms.SignupForm):
    """Creates an account whatever address is entered, so that no response reveals known addresses.

    An address counts only once it is confirmed, and then belongs to one account.
    """

    def validate_unique_email(self, value: str) -> str:
        return value

    def save(self, request: HttpRequest) -> User:
        try:
            user: User = super().save(request)
        except IntegrityError:
            # Two people chose the same name at once, and both were told that it is free.
            self.add_error("username", names.TAKEN)
            context = {"form": self, "login_url": reverse("account_login")}
            answer = render(request, "account/signup.html", context, status=409)
            raise ImmediateHttpResponse(answer) from None
        return user


class ResetPasswordForm(allauth_forms.ResetPasswordForm):
    """Sends one e-mail, however many accounts there are, so that timing reveals nothing."""

    users: list[User]

    def save(self, request: HttpRequest, **kwargs: Any) -> str:
        email: str = self.cleaned_data["email"]
        if not self.users:
            return str(super().save(request, **kwargs))
        generator = kwargs.get("token_generator", allauth_forms.default_token_generator)
        adapter = get_adapter()
        accounts = sorted(self.users, key=lambda user: user.pk)[:MAX_ACCOUNTS_IN_A_LETTER]
        links = [
            {
                "name": user.get_username(),
                "url": adapter.get_reset_password_from_key_url(
                    f"{user_pk_to_url_str(user)}-{generator.make_token(user)}"
                ),
            }
            for user in accounts
        ]
        adapter.send_mail("account/email/password_reset_key", email, {"links": links})
        return email


class _TokensMixin(forms.Form):
    """Revokes the account's API tokens with a new password, unless the page says otherwise."""

    user: User

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        count = active_tokens(self.user).count() if self.user else 0
        if count:
            tokens = "API token" if count == 1 else f"{count} API tokens"
            self.fields["keep_tokens"] = forms.BooleanField(
                label=f"Keep my {tokens} working",
                required=False,
                help_text="If you leave it empty, programs of yours that use one are refused from "
                "now on. Leave it empty if somebody else may know the old password.",
            )

    def save(self) -> None:
        if self.cleaned_data.get("keep_tokens"):
            keep_tokens(self.user)
        super().save()  # type: ignore[misc]


class ChangePasswordForm(_TokensMixin, allauth_forms.ChangePasswordForm):
    pass


class SetPasswordForm(_TokensMixin, allauth_forms.SetPasswordForm):
    pass


class ResetPasswordKeyForm(_TokensMixin, allauth_forms.ResetPasswordKeyForm):
    pass
