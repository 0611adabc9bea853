"""The admin site: its titles, and behaviour of all of its pages; each app registers its models."""

from __future__ import annotations

from functools import update_wrapper
from typing import Any

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.html import format_html

from learnml.sent import is_from_elsewhere


class LearnMLAdminSite(AdminSite):
    site_header = "LearnML"
    site_title = "LearnML admin"
    index_title = "Author, grade, operate"

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        from grader.admin.notices import tell_of_checks

        tell_of_checks(request)
        _tell_of_held_forms(request)
        return super().each_context(request)

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        from courses import held_forms

        inner = super().admin_view(view, cacheable)

        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not self.has_permission(request) and (address := hold_form(request)):
                return redirect_to_login(address, reverse("admin:login"))
            response: HttpResponseBase = inner(request, *args, **kwargs)
            if self.has_permission(request):
                held_forms.remember_author(request, response)
            return response

        return update_wrapper(answer, inner)


def hold_form(request: HttpRequest) -> str | None:
    """Keep a form of the admin that cannot be accepted now; return the address where its author
    finds it.

    None for other forms, from other sites, or of unknown authors.
    """
    from courses import held_forms

    if request.method != "POST" or is_from_elsewhere(request) or not _shows_again(request):
        return None
    held = held_forms.hold(request)
    return held_forms.address_of(held) if held else None


def _shows_again(request: HttpRequest) -> bool:
    """Return whether the page of this address can show a kept form."""
    from courses.admin.writing import ShortWritesMixin

    match = request.resolver_match
    if match is None or match.app_name != "admin":
        return False
    name = str(match.url_name)
    admin = getattr(match.func, "model_admin", None)
    is_form = name.endswith(("_add", "_change")) and isinstance(admin, ShortWritesMixin)
    return is_form or name == "grader_submission_decide"


def _tell_of_held_forms(request: HttpRequest) -> None:
    """Point to forms kept when the session ended, until they are saved or expire."""
    from courses import held_forms

    if not hasattr(request, "_messages"):
        return
    for held in held_forms.kept_of(request.user).defer("content"):
        if held.path != request.path:
            link = format_html('<a href="{}">{}</a>', held_forms.address_of(held), held.path)
            text = "A form that you sent when your session had ended is kept for a day: {}."
            messages.warning(request, format_html(text, link))
