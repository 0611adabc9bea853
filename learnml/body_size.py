"""No request here needs a large body, so none is read: not by a page, not by a form, not by files.

Django bounds the fields of a form, but writes the files beside them to disk as they come.
"""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from grader import bodies
from learnml.errors import too_large


class BodySizeMiddleware:
    """Answer 413 to a body above `DATA_UPLOAD_MAX_MEMORY_SIZE`, whatever the address.

    Stands last: the page that it answers with knows who asks, and the check of a form's token,
    which would read the body, comes after all middleware has been entered.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not bodies.is_too_large(request):
            return self.get_response(request)
        bodies.drain(request)
        return too_large(request)
