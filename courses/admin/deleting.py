"""Deleting chapters and courses: allowed until learners have answered, and refused with a reason
after.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from courses.models import Chapter


def used_by_learners(chapters: QuerySet[Chapter]) -> QuerySet[Chapter]:
    """Return the chapters that have answers or completions of learners."""
    used = Q(attempts__isnull=False) | Q(completions__isnull=False)
    return chapters.filter(used | Q(requirements_met__isnull=False)).distinct()


class KeepWhatLearnersUsedMixin:
    """For admins of rows whose deletion cascades to chapters."""

    opts: Any

    def chapters_lost(self, obj: Any) -> QuerySet[Chapter]:
        """Return the chapters that deleting `obj` would delete."""
        raise TypeError(f"{type(self).__name__} does not say which chapters it deletes.")

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        obj = self.get_object(request, object_id)  # type: ignore[attr-defined]
        if obj is not None and self.has_delete_permission(request, obj):  # type: ignore[attr-defined]
            used = list(used_by_learners(self.chapters_lost(obj)))
            if used:
                messages.error(request, _why_kept(self.opts.verbose_name, used))
                return redirect(
                    f"admin:{self.opts.app_label}_{self.opts.model_name}_change", object_id
                )
        response: HttpResponseBase = super().delete_view(  # type: ignore[misc]
            request, object_id, extra_context
        )
        return response


def _why_kept(name: str, used: list[Chapter]) -> SafeString:
    links = format_html_join(
        ", ",
        '<a href="{}">{}</a>',
        (
            (reverse("admin:courses_chapter_change", args=[chapter.pk]), chapter.title)
            for chapter in used
        ),
    )
    return format_html(
        "This {} was not deleted: learners have answered questions in {}, and their progress would "
        "be lost with it. To take a chapter away from learners, untick “Published” in its form and "
        "save; their answers are kept, and only authors see it from then on.",
        name,
        links,
    )
