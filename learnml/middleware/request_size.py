"""A limit on the size of every request, whatever its address.

No visitor needs a large request, so no view reads one. Authors do: a long chapter is one form.
Django limits the fields of a form, but writes uploaded files to disk as they arrive.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse

from courses import held_forms
from grader import request_size
from learnml.errors import too_large


class RequestSizeMiddleware:
    """Answer 413 to a body above `MAX_BODY_BYTES`.

    A form of the admin, sent by one of its users, may have up to `MAX_ADMIN_BODY_BYTES`.

    Comes last: its error page knows the user, and the CSRF check, which would read the body, runs
    after all middleware has been entered.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request_size.is_too_large(request) or _is_authors(request):
            return self.get_response(request)
        request_size.drain(request)
        return too_large(request)


def _is_authors(request: HttpRequest) -> bool:
    """Return whether this is a form of the admin, from one of its users and within its limit.

    Also where the session has ended meanwhile: the form is kept then.
    """
    size = request_size.announced_bytes(request)
    if size > settings.MAX_ADMIN_BODY_BYTES or not request.path.startswith(reverse("admin:index")):
        return False
    if request.user.is_active and getattr(request.user, "is_staff", False):
        return True
    return size <= held_forms.MAX_HELD_BYTES and held_forms.author_of(request) is not None
