"""Saving in the admin publishes; what cannot be published is not saved, and the form says why."""

from __future__ import annotations

from typing import Any

from adminsortable2.admin import SortableAdminBase
from django.contrib import messages
from django.db import models
from django.http import HttpRequest, HttpResponseBase, HttpResponseNotAllowed
from django.shortcuts import redirect
from simple_history.admin import SimpleHistoryAdmin

from courses import services
from courses.answered import carry_answers, keys_of
from courses.content.errors import ContentError
from courses.models import Chapter
from courses.rendering import RenderError, SourceError

from .conflicts import RefuseStaleMixin
from .fields import ExactTextField
from .forms import Errors

TEXT_OVERRIDES: dict[type[models.Field], dict[str, Any]] = {
    models.TextField: {"form_class": ExactTextField}
}


def content_errors(request: HttpRequest) -> Errors:
    """Return what publishing found wrong with this request's input, so far."""
    errors: Errors = getattr(request, "content_errors", {})
    return errors


class PublishOnSaveAdmin(RefuseStaleMixin, SortableAdminBase, SimpleHistoryAdmin):
    """Admin of a chapter or of a part with a page of its own.

    A save runs in one transaction: rows, revision, log and history are all written or none is. The
    page is rendered before it, see `courses.saving`. When publishing refuses, the same input is
    validated again with what was wrong, so that each error appears at its field. Rendering is
    therefore done in one place only.
    """

    formfield_overrides = TEXT_OVERRIDES
    save_on_top = True

    def chapter_of(self, obj: Any) -> Chapter:
        """Return the chapter that is published when `obj` is saved."""
        raise TypeError(f"{type(self).__name__} does not say which chapter it publishes.")

    def lock(self, obj: Any) -> None:
        super().lock(self.chapter_of(obj))

    def before_publishing(self, obj: Any) -> None:
        """Fix up what was just saved; runs in the transaction of the save."""

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponseBase:
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except (ContentError, RenderError) as error:
            request.content_errors = _errors_of(error)  # type: ignore[attr-defined]
        return super().changeform_view(request, object_id, form_url, extra_context)

    def get_form(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, **kwargs)
        form.content_errors = content_errors(request)
        return form

    def look_again(self, request: HttpRequest, obj: Any, change: bool) -> None:
        super().look_again(request, obj, change)
        keys = keys_of(self.chapter_of(obj)) if change else {}
        request.keys_before = keys  # type: ignore[attr-defined]

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        self.before_publishing(form.instance)
        chapter = self.chapter_of(form.instance)
        carried = carry_answers(chapter, request.keys_before)  # type: ignore[attr-defined]
        self._publish(request, chapter)
        for each in carried:
            messages.info(request, str(each))

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        try:
            return super().delete_view(request, object_id, extra_context)
        except (ContentError, RenderError) as error:
            messages.error(request, f"Nothing was deleted, because the chapter needs it. {error}")
            return redirect(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", object_id)

    def history_form_view(
        self,
        request: HttpRequest,
        object_id: str,
        version_id: str,
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponseBase:
        """Show a former state. To restore it, copy it into the form, which publishes it."""
        if request.method == "POST":
            return HttpResponseNotAllowed(["GET", "HEAD"])
        response: HttpResponseBase = super().history_form_view(
            request, object_id, version_id, extra_context
        )
        return response

    def revert_disabled(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def _publish(self, request: HttpRequest, chapter: Chapter) -> None:
        user = request.user if request.user.is_authenticated else None
        services.publish_or_check(chapter, user, request.renderings)  # type: ignore[attr-defined]


def _errors_of(error: ContentError | RenderError) -> Errors:
    if isinstance(error, ContentError):
        return error.errors
    return {"renderer": [SourceError(line=1, column=1, message=str(error), excerpt="")]}
