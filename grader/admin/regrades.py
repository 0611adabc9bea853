"""Regrades in the admin: started from the list of submissions, reviewed, committed, undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path
from django.utils.safestring import SafeString

from courses.admin.searching import FoldedSearchMixin
from grader import queries
from grader.access import may_change_submissions
from grader.models import RegradeItem, RegradeRun, RegradeScope, RegradeState, Submission
from grader.services import Refused, commit_regrade, start_regrade, undo_regrade

from .readonly import ExactCountOff, ReadOnlyMixin, shown_json

# What needs attention comes first.
ORDER = [name for name, _ in RegradeItem.CHANGES]
ORDER.sort(key=["lowered", "raised", "renamed", "failed", "waiting", "same"].index)


def may_regrade(request: HttpRequest) -> bool:
    return may_change_submissions(request.user)


@admin.action(description="Regrade (dry run)")
def regrade(
    modeladmin: admin.ModelAdmin[Submission],
    request: HttpRequest,
    submissions: QuerySet[Submission],
) -> HttpResponse | None:
    """Start a dry run over the selected submissions and show it."""
    chosen = {"selected in the admin": submissions.order_by().count()}
    try:
        run = start_regrade(cast(User, request.user), submissions, chosen)
    except Refused as refusal:
        messages.error(request, refusal.message)
        return None
    messages.success(request, "Started. Nothing of the learners' changes until you commit it.")
    return redirect(run)


@admin.register(RegradeRun)
class RegradeRunAdmin(FoldedSearchMixin, ReadOnlyMixin, ExactCountOff):
    change_form_template = "admin/grader/regraderun/change_form.html"
    view_on_site = False
    list_display = ("public_id", "state", "scope", "submissions", "created_by", "created_at")
    list_filter = ("state", "created_at")
    list_select_related = ("created_by",)
    search_fields = ("public_id", "created_by__username", "created_by__account_name__folded")
    fields = (
        "state",
        "created_by",
        "created_at",
        "filter",
        "left_out",
        "graded_at",
        "scope",
        "committed_at",
        "undone_at",
    )
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[RegradeRun]:
        return super().get_queryset(request).annotate(submission_count=Count("items"))

    @admin.display(description="submissions", ordering="submission_count")
    def submissions(self, run: RegradeRun) -> int:
        return int(getattr(run, "submission_count", 0))

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("<int:pk>/commit/", view(self.commit), name="grader_regraderun_commit"),
            path("<int:pk>/undo/", view(self.undo), name="grader_regraderun_undo"),
            *super().get_urls(),
        ]

    def commit(self, request: HttpRequest, pk: int) -> HttpResponse:
        scope = request.POST.get("scope", "")
        return _act(request, pk, lambda user, run: commit_regrade(user, run, scope), "Committed.")

    def undo(self, request: HttpRequest, pk: int) -> HttpResponse:
        return _act(request, pk, undo_regrade, "Undone: what had been taken over is as it was.")

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        run = context["original"]
        items = run.items.select_related("submission__user", "submission__exercise").defer(
            "report", "old_report", "submission__source", "submission__report"
        )
        context |= {
            "items": sorted(items, key=lambda item: (ORDER.index(item.change), item.pk)),
            "numbers": _named(queries.regrade_numbers(run).changes),
            "scopes": RegradeScope.choices,
            "being_graded": run.state == RegradeState.GRADING,
            "can_commit": run.state == RegradeState.GRADED and may_regrade(request),
            "can_undo": run.state == RegradeState.COMMITTED and may_regrade(request),
        }
        return super().render_change_form(request, context, *args, **kwargs)


@admin.register(RegradeItem)
class RegradeItemAdmin(ReadOnlyMixin, ExactCountOff):
    """Both reports of one submission side by side; linked from its run."""

    fields = (
        "run",
        "submission",
        "state",
        "old_outcome",
        "old_score",
        "shown_old_report",
        "outcome",
        "score",
        "shown_report",
        "graded_at",
    )
    readonly_fields = fields

    def get_model_perms(self, request: HttpRequest) -> dict[str, bool]:
        return {}

    @admin.display(description="old report")
    def shown_old_report(self, item: RegradeItem) -> SafeString:
        return shown_json(item.old_report)

    @admin.display(description="new report")
    def shown_report(self, item: RegradeItem) -> SafeString:
        return shown_json(item.report)


def _named(changes: dict[str, int]) -> list[tuple[str, int]]:
    names = dict(RegradeItem.CHANGES)
    return [(names[change], changes[change]) for change in ORDER if change in changes]


def _act(
    request: HttpRequest, pk: int, act: Callable[[User, RegradeRun], RegradeRun], done: str
) -> HttpResponse:
    if not may_regrade(request):
        raise PermissionDenied
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    run = get_object_or_404(RegradeRun, pk=pk)
    try:
        act(cast(User, request.user), run)
    except Refused as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, done)
    return redirect(run)
