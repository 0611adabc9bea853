"""The account's own pages: thin, as all views."""

from __future__ import annotations

from allauth.account.decorators import login_required
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from .forms import DeletionForm, NameForm
from .services import LastOperatorError, delete_account


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
    """Say what is lost with the account, and delete it for who knows its password."""
    user = _user(request)
    form = DeletionForm(user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            delete_account(user)
        except LastOperatorError as error:
            form.add_error(None, str(error))
        else:
            logout(request)
            messages.success(request, "Your account and what belonged to it are deleted.")
            return redirect("courses:home")
    return render(request, "account/delete.html", {"form": form, "page_name": "profile"})
