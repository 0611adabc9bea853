from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.safestring import SafeString

from courses.admin.searching import FoldedSearchMixin
from grader import access, limits
from grader.deadlines import IN_TIME, LATE, deadline_of, is_late, with_deadline
from grader.models import (
    AttemptState,
    GradingAttempt,
    Outcome,
    SecondVerdict,
    Submission,
    SubmissionState,
)
from grader.services import Refused, ask_second_again

from . import decisions, export, readonly, regrades
from .readonly import ExactCountOff, ReadOnlyMixin

STUCK_AFTER = timedelta(minutes=5)


@admin.action(description="Ask for the second verdict again")
def ask_again(modeladmin: Any, request: HttpRequest, rows: QuerySet[Any]) -> None:
    """Ask again for second verdicts of selected submissions, or of selected attempts."""
    submissions = rows
    if rows.model is GradingAttempt:
        submissions = Submission.objects.filter(pk__in=rows.order_by().values("submission"))
    most = limits.max_regrade_submissions()
    chosen = list(submissions.defer("source", "report").order_by("pk")[: most + 1])
    if len(chosen) > most:
        messages.error(request, f"At most {most} submissions go at once. Choose fewer.")
        return
    done = Counter(_ask(cast(User, request.user), submission) for submission in chosen)
    texts = [f"{number} {what}" for what, number in done.items()]
    messages.success(request, f"{'; '.join(texts)}. What counts for the lesson stays as it is.")


def _ask(by: User, submission: Submission) -> str:
    try:
        asked = ask_second_again(by, submission)
    except Refused:
        return "without a second verdict"
    return "asked for" if asked else "awaited already"


class StuckFilter(admin.SimpleListFilter):
    """Open for more than five minutes: a long queue, no worker, or a defect."""

    title = "waiting long"
    parameter_name = "stuck"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "more than 5 minutes")]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Submission]
    ) -> QuerySet[Submission]:
        if self.value() != "yes":
            return queryset
        return queryset.filter(
            state__in=SubmissionState.open(), created_at__lt=timezone.now() - STUCK_AFTER
        )


class LateFilter(admin.SimpleListFilter):
    """By the time of submission; the time of grading does not matter."""

    title = "deadline"
    parameter_name = "late"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("true", "submitted late"), ("false", "in time, or without a deadline")]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Submission]
    ) -> QuerySet[Submission]:
        condition = {"true": LATE, "false": IN_TIME}.get(self.value() or "")
        return queryset if condition is None else queryset.filter(condition)


class SecondFilter(admin.SimpleListFilter):
    """By the second verdict, which does not count for the lesson."""

    title = "second verdict"
    parameter_name = "second"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        others = [("awaited", "awaited"), ("replaced", "replaced by a newer submission")]
        return [(outcome.value, str(outcome.label)) for outcome in Outcome] + others

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Submission]
    ) -> QuerySet[Submission]:
        value = self.value() or ""
        if value in Outcome.values:
            return queryset.filter(second__outcome=value)
        if value == "awaited":
            return queryset.filter(second__state__in=SubmissionState.open())
        if value == "replaced":
            return queryset.filter(second__state=SubmissionState.REPLACED)
        return queryset


class AttemptInline(ReadOnlyMixin, admin.TabularInline):
    model = GradingAttempt
    extra = 0
    fields = (
        "number",
        "regrade_item",
        "kind",
        "state",
        "node",
        "priority",
        "outcome",
        "end_reason",
        "created_at",
        "claimed_at",
        "heartbeat_at",
        "finished_at",
    )
    readonly_fields = fields


class SecondVerdictInline(ReadOnlyMixin, admin.StackedInline):
    """The second verdict, which does not count for the lesson."""

    model = SecondVerdict
    extra = 0
    fields = (
        "kind",
        "state",
        "phase",
        "outcome",
        "score",
        "claimed_at",
        "finished_at",
        "shown_report",
    )
    readonly_fields = fields

    @admin.display(description="report")
    def shown_report(self, verdict: SecondVerdict) -> SafeString:
        return readonly.shown_json(verdict.report)


@admin.register(Submission)
class SubmissionAdmin(FoldedSearchMixin, ReadOnlyMixin, ExactCountOff):
    list_display = (
        "public_id",
        "exercise",
        "track",
        "user",
        "state",
        "outcome",
        "score",
        "created_at",
        "late",
        "finished_at",
    )
    list_filter = (
        *("state", "outcome", SecondFilter, StuckFilter, LateFilter),
        *("exercise", "track", "created_at"),
    )
    list_select_related = ("exercise", "user")
    search_fields = (
        *("public_id", "source_sha256", "user__email"),
        *("user__username", "user__account_name__folded"),
    )
    date_hierarchy = "created_at"
    inlines = (SecondVerdictInline, AttemptInline)
    actions = (export.as_csv_for_excel, export.as_csv, regrades.regrade, ask_again)
    fields = (
        "public_id",
        "user",
        "exercise",
        "track",
        "kind",
        "state",
        "phase",
        "case",
        "cases",
        "outcome",
        "score",
        "shown_override",
        "decision_reason",
        "decided_at",
        "source_sha256",
        "source_bytes",
        "created_at",
        "shown_deadline",
        "late",
        "claimed_at",
        "finished_at",
        "shown_source",
        "shown_report",
    )
    readonly_fields = fields

    def has_view_permission(self, request: HttpRequest, obj: Submission | None = None) -> bool:
        return access.sees_all_submissions(request.user)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Submission]:
        submissions = with_deadline(access.visible_submissions(request.user))
        match = request.resolver_match
        if match is not None and match.url_name == "grader_submission_changelist":
            return submissions.defer("source", "report")
        return submissions

    def get_actions(self, request: HttpRequest) -> Any:
        actions = super().get_actions(request)
        may_change = regrades.may_regrade(request)
        return {
            name: act for name, act in actions.items() if may_change or name in export.DOWNLOADS
        }

    def get_urls(self) -> list[URLPattern]:
        decide = self.admin_site.admin_view(self.decide_view)
        name = "grader_submission_decide"
        return [path("<int:pk>/decide/", decide, name=name), *super().get_urls()]

    def decide_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return decisions.decide(request, pk, self.admin_site)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        submission = context.get("original")
        context["may_decide"] = decisions.may_decide(request, submission)
        return super().render_change_form(request, context, *args, **kwargs)

    @admin.display(boolean=True, description="late")
    def late(self, submission: Submission) -> bool:
        return is_late(submission)

    @admin.display(description="deadline")
    def shown_deadline(self, submission: Submission) -> str:
        """The learner's own deadline, including an extension."""
        deadline = deadline_of(submission)
        return f"{deadline:%Y-%m-%d %H:%M} UTC" if deadline else "none"

    @admin.display(description="a person's score")
    def shown_override(self, submission: Submission) -> str:
        override = getattr(submission, "override", None)
        if override is None:
            return "none"
        return f"{override.score:g}, in place of {override.graded_score:g}: {override.reason}"

    @admin.display(description="source")
    def shown_source(self, submission: Submission) -> SafeString:
        return readonly.shown_source(submission)

    @admin.display(description="report")
    def shown_report(self, submission: Submission) -> SafeString:
        return readonly.shown_report(submission)


class LostFilter(admin.SimpleListFilter):
    title = "trouble"
    parameter_name = "trouble"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("lost", "ended without a verdict"),
            ("returned", "given back by its node"),
            ("replaced", "replaced by a newer submission"),
            ("unsent", "not on the queue yet"),
        ]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[GradingAttempt]
    ) -> QuerySet[GradingAttempt]:
        conditions = {
            "lost": Q(state=AttemptState.LOST),
            "returned": Q(state=AttemptState.RETURNED),
            "replaced": Q(state=AttemptState.REPLACED),
            "unsent": Q(state=AttemptState.QUEUED, outbox__sent_at__isnull=True),
        }
        condition = conditions.get(self.value() or "")
        return queryset if condition is None else queryset.filter(condition)


@admin.register(GradingAttempt)
class GradingAttemptAdmin(ReadOnlyMixin, ExactCountOff):
    list_display = (
        "submission",
        "number",
        "kind",
        "state",
        "priority",
        "node",
        "outcome",
        "end_reason",
        "heartbeat_at",
        "created_at",
    )
    list_filter = (LostFilter, "kind", "state", "outcome", "node", "created_at")
    # After repairing a node: select its attempts, and ask for their verdicts again.
    actions = (ask_again,)
    list_select_related = ("submission",)
    search_fields = ("submission__public_id", "node", "end_reason")
    ordering = ("-id",)
    # Without the lease: whoever knows it could write the verdict.
    fields = (
        "submission",
        "regrade_item",
        "number",
        "try_number",
        "returns",
        "kind",
        "state",
        "queue",
        "priority",
        "node",
        "outcome",
        "end_reason",
        "created_at",
        "claimed_at",
        "heartbeat_at",
        "finished_at",
        "sending",
    )
    readonly_fields = fields

    def get_actions(self, request: HttpRequest) -> Any:
        return super().get_actions(request) if regrades.may_regrade(request) else {}

    @admin.display(description="sending")
    def sending(self, attempt: GradingAttempt) -> str:
        message = getattr(attempt, "outbox", None)
        if message is None:
            return "no message"
        if message.sent_at:
            return f"sent {message.sends} times, last at {message.sent_at:%Y-%m-%d %H:%M:%S} UTC"
        if message.failures:
            return f"waiting after {message.failures} failures: {message.last_error}"
        return "waiting for its turn"
