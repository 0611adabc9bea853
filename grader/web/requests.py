"""What several of the grader's views share: bounded bodies, signing in, answers of one form."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias, cast

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from grader import bodies

View: TypeAlias = Callable[..., HttpResponseBase]


def bounded_body(view: View) -> View:
    """Answer 413 with a page for a body that is too large, before CSRF checks would parse it."""
    protected = csrf_protect(view)

    @csrf_exempt
    @wraps(view)
    def bounded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if bodies.is_too_large(request):
            bodies.drain(request)
            return render(request, "413.html", status=413)
        return protected(request, *args, **kwargs)

    return bounded


def signed_in(view: View) -> View:
    """Send visitors to sign in, whether there is such a row or not.

    A page that polls is told 401 instead: it would show the form in place of the verdict.
    """
    to_sign_in = login_required(view)

    @wraps(view)
    def asked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if "fragment" in request.GET and not request.user.is_authenticated:
            return HttpResponse("Sign in again to see this.", "text/plain", status=401)
        return to_sign_in(request, *args, **kwargs)

    return asked


def user_of(request: HttpRequest) -> User:
    """Return the signed-in user of a view that asks for one."""
    return cast(User, request.user)


def is_fetch(request: HttpRequest) -> bool:
    """Whether a script of ours asks, which wants a fragment and not a page."""
    return request.headers.get("X-Requested-With") == "fetch"


def see_other(url: str) -> HttpResponse:
    response = redirect(url)
    response.status_code = 303
    return response


def sign_in_first(url: str) -> HttpResponse:
    """Send a visitor to sign in, and back to `url` afterwards."""
    return redirect(f"{reverse('account_login')}?{urlencode({'next': url})}")
