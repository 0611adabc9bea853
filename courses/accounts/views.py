"""The account's own pages."""

from __future__ import annotations

from datetime import datetime

from allauth.account.decorators import login_required
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from .deletion import delete_account, kept_until
from .forms import DeletionForm, NameForm
from .operators import LastOperatorError


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # noqa: S101  the decorator lets nobody else in
    return request.user


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def profile(request: HttpRequest) -> HttpResponseBase:
    """Show and change the name of the account."""
    form = NameForm(request.POST or None, instance=_user(request))
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Your name is saved.")
        return redirect("courses:profile")
    return render(request, "account/profile.html", {"form": form, "page_name": "profile"})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest) -> HttpResponseBase:
    """Explain what deleting the account loses, and delete it after confirming the password."""
    user = _user(request)
    form = DeletionForm(user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            until = delete_account(user)
        except LastOperatorError as error:
            form.add_error(None, str(error))
        else:
            logout(request)
            messages.success(request, _deleted_text(until))
            return redirect("courses:home")
    context = {"form": form, "page_name": "profile", "kept_until": kept_until(user)}
    return render(request, "account/delete.html", context)


def _deleted_text(until: datetime | None) -> str:
    if until is None:
        return "Your account and what belonged to it are deleted."
    return (
        f"Your account is deleted. Your submissions stay until {until:%-d %B %Y} for those who "
        "grade them, without your name."
    )
