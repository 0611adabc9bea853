"""Forms for what people change about their account here; password and email are allauth's."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import User


class NameForm(forms.ModelForm):
    """First and last name, both as one likes."""

    class Meta:
        model = User
        fields = ("first_name", "last_name")
        help_texts = {
            "first_name": "",
            "last_name": "Those who grade your work see this name beside your user name.",
        }


class DeletionForm(forms.Form):
    """Asks for the password: an unattended browser is not enough."""

    password = forms.CharField(
        label="Your password",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        if not self.user.check_password(password):
            raise forms.ValidationError("This is not the password of this account. Try again.")
        return password
