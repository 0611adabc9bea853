"""Admin forms that hold the database's write lock only while they write.

Django's admin opens a transaction before it reads the request, and keeps it while all forms are
validated, passwords hashed and formulas rendered. SQLite has a single writer, so everybody else
would wait that long.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from http import HTTPStatus
from typing import Any

from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponseBase
from django.utils.datastructures import MultiValueDict

from courses import held_forms
from courses.models import HeldForm
from courses.saving import MAX_TRIES, NotRendered, Renderings, changes_too_often

HELD_TEXT = (
    "Your session had ended when you sent this form, so nothing was saved. What you typed is "
    "below. Press Save to save it."
)


class Stale(Exception):
    """The database no longer holds what was validated; validate again."""


class ShortWritesMixin:
    """Begins the transaction of a save where its first row is written, in `save_model`.

    Conditions that must hold then are checked in `begin_writing`, which raises `Stale` where they
    do not. What a save found missing is rendered between two tries; see `courses.saving`.
    """

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponseBase:
        if request.method == "POST":
            response = _tried(
                request, lambda: self.answer_form(request, object_id, form_url, extra_context)
            )
            if response.status_code == HTTPStatus.FOUND:
                held_forms.forget(request)
            return response
        held = held_forms.held_for(request)
        if held is not None:
            show_as_sent(request, held)
            return self.answer_form(request, object_id, form_url, extra_context)
        view: Any = super().changeform_view  # type: ignore[misc]
        shown: HttpResponseBase = view(request, object_id, form_url, extra_context)
        return shown

    def get_form(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, **kwargs)  # type: ignore[misc]
        return _never_valid(form) if is_held(request) else form

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        if request.method != "POST":
            view: Any = super().delete_view  # type: ignore[misc]
            shown: HttpResponseBase = view(request, object_id, extra_context)
            return shown
        # As below: without a transaction around all the queries of the page.
        inner: Any = self._delete_view  # type: ignore[attr-defined]
        return _tried(request, lambda: inner(request, object_id, extra_context))

    def answer_form(
        self,
        request: HttpRequest,
        object_id: str | None,
        form_url: str,
        extra_context: dict[str, Any] | None,
    ) -> HttpResponseBase:
        """Validate the form, and save it or show it with its errors."""
        # The inner half of Django's view, without its transaction.
        response: HttpResponseBase = self._changeform_view(  # type: ignore[attr-defined]
            request, object_id, form_url, extra_context
        )
        return response

    def begin_writing(self, request: HttpRequest, obj: Any, change: bool) -> None:
        """Begin the transaction of a save or a deletion; further calls do nothing."""
        if not request.has_begun_writing:  # type: ignore[attr-defined]
            request.writing.enter_context(transaction.atomic())  # type: ignore[attr-defined]
            request.has_begun_writing = True  # type: ignore[attr-defined]
            self.look_again(request, obj, change)

    def look_again(self, request: HttpRequest, obj: Any, change: bool) -> None:
        """Raise `Stale` where what was validated holds no more; runs as writing begins."""

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        self.begin_writing(request, obj, change)
        super().save_model(request, obj, form, change)  # type: ignore[misc]

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        # The first row that a deletion writes. An action on a list has a transaction for each.
        if hasattr(request, "writing"):
            self.begin_writing(request, None, change=False)
        return super().log_deletions(request, queryset)  # type: ignore[misc]


def show_as_sent(request: HttpRequest, held: HeldForm) -> None:
    """Turn a request for a page into the form that was sent from it earlier, to be shown but not
    saved.

    A form of it is invalid, see `ShortWritesMixin.get_form`; other views ask `is_held`.
    """
    request.method = "POST"
    request.POST = held_forms.data_of(held)  # type: ignore[assignment]
    request._files = MultiValueDict()  # type: ignore[attr-defined]
    request.is_held_form = True  # type: ignore[attr-defined]


def is_held(request: HttpRequest) -> bool:
    """Return whether this request only shows a form that was kept."""
    return getattr(request, "is_held_form", False)


def _never_valid(form: type[Any]) -> type[Any]:
    class Shown(form):
        def clean(self) -> Any:
            cleaned = super().clean()
            self.add_error(None, HELD_TEXT)
            return cleaned

    return Shown


def _tried(request: Any, act: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """Do what `begin_writing` may begin a transaction in, again where it came to nothing."""
    request.renderings = Renderings()
    for number in range(MAX_TRIES):
        try:
            with ExitStack() as writing:
                request.writing, request.has_begun_writing = writing, False
                return act()
        except NotRendered as missing:
            request.renderings.add(missing.content, missing.published, missing.page)
        except Stale:
            continue
        except IntegrityError:
            # The name was taken after the check: validating again reports it. Other errors are
            # raised.
            if number:
                raise
    raise changes_too_often()
