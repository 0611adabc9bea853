"""No request of a visitor needs a large body, so none is read: by no page, no form, no files.

Authors do, who send a long chapter as one form. Django bounds the fields of a form, but writes the
files beside them to disk as they come.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse

from courses import held_forms
from grader import bodies
from learnml.errors import too_large


class BodySizeMiddleware:
    """Answer 413 to a body above `MAX_BODY_BYTES`, whatever the address.

    A form of the admin may be as large as `MAX_ADMIN_BODY_BYTES`, sent by one of its users.

    Stands last: the page that it answers with knows who asks, and the check of a form's token,
    which would read the body, comes after all middleware has been entered.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not bodies.is_too_large(request) or _is_authors(request):
            return self.get_response(request)
        bodies.drain(request)
        return too_large(request)


def _is_authors(request: HttpRequest) -> bool:
    """Return whether somebody who may use the admin sends it a form of the size allowed there.

    Or did until the session ended: the form is kept then.
    """
    size = bodies.announced_bytes(request)
    if size > settings.MAX_ADMIN_BODY_BYTES or not request.path.startswith(reverse("admin:index")):
        return False
    if request.user.is_active and getattr(request.user, "is_staff", False):
        return True
    return size <= held_forms.MAX_HELD_BYTES and held_forms.author_of(request) is not None
