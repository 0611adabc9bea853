"""Helpers for views that accept texts: size limit, signing in, giving texts back."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias, cast

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.http import urlencode
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from grader import request_size

View: TypeAlias = Callable[..., HttpResponseBase]


def bounded_body(view: View) -> View:
    """Answer 413 to requests that are too large, before the CSRF check would parse them."""
    protected = csrf_protect(view)

    @csrf_exempt
    @wraps(view)
    def bounded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request_size.is_too_large(request):
            request_size.drain(request)
            return render(request, "413.html", status=413)
        return protected(request, *args, **kwargs)

    return bounded


def signed_in(view: View) -> View:
    """Send visitors to sign in, whether or not the row exists.

    A polling page gets 401 instead: it would show the sign-in form in place of the verdict.
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
    """Return whether one of our scripts asks, which wants a fragment and not a page."""
    return request.headers.get("X-Requested-With") == "fetch"


def see_other(url: str) -> HttpResponse:
    response = redirect(url)
    response.status_code = 303
    return response


def sign_in_url(back: str) -> str:
    """Return the sign-in page's address, with `back` as the next page."""
    return f"{reverse('account_login')}?{urlencode({'next': back})}"


def signed_out(request: HttpRequest, back: str, send: str) -> HttpResponse:
    """Answer 401 to a text from a signed-out sender, without storing or losing it.

    A script gets the address for signing in. Without one, the page contains the text in a form that
    sends it again, with a button labelled `send`.
    """
    if is_fetch(request):
        message = "You are signed out. Nothing was stored."
        return JsonResponse({"message": message, "sign_in": sign_in_url(back)}, status=401)
    message = (
        "You are signed out, so nothing was stored. Here is your text. Sign in, in a new tab, then "
        "come back to this one and send it."
    )
    return not_stored(
        request, 401, "You are signed out", message, send=send, sign_in=sign_in_url(back)
    )


def page_mark(request: HttpRequest) -> str:
    """Return a mark of the account that a form's page was made for; empty for visitors."""
    user = request.user
    return salted_hmac(__name__, str(user.pk)).hexdigest()[:20] if user.is_authenticated else ""


def is_of_another_account(request: HttpRequest) -> bool:
    """Return whether the sending page was made for another account than the present one.

    Somebody else signed in in another tab: the text in this one is not theirs.
    """
    made_for = request.POST.get("made_for", "")
    return bool(made_for) and made_for != page_mark(request)


def of_another_account(request: HttpRequest, send: str) -> HttpResponse:
    """Answer 403 to a text from another account's page, and store it for neither."""
    message = another_account_text(request)
    if is_fetch(request):
        return JsonResponse({"message": message}, status=403)
    message += " Here is the text; the button below sends it as the account that is signed in now."
    return not_stored(request, 403, "Another account is signed in", message, send=send)


def another_account_text(request: HttpRequest) -> str:
    name = user_of(request).get_username()
    return (
        f"Nothing was stored: {name} is signed in in this browser by now, and this page was opened "
        f"by another account. Sign in as before in another tab, or load the page again to go on as "
        f"{name}."
    )


def not_stored(
    request: HttpRequest, status: int, title: str, message: str, *, send: str, sign_in: str = ""
) -> HttpResponse:
    """Give a refused text back to its sender, in a form with the same address."""
    names = ("track", "key", "seen", "replace")
    context = {
        "title": title,
        "message": message,
        "source": sent_text(request),
        "fields": {name: request.POST[name] for name in names if name in request.POST},
        "action": request.path,
        "send": send,
        "sign_in": sign_in,
    }
    return render(request, "grader/not_stored.html", context, status=status)


def sent_text(request: HttpRequest) -> str:
    """Return the source that was sent; an uploaded file's text, as far as it is text."""
    upload = request.FILES.get("file")
    if upload is not None:
        return bytes(upload.read()).decode("utf-8", "replace")
    return request.POST.get("source", "").replace("\r\n", "\n")
