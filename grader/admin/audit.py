"""The audit log: read and searched."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from grader.models import ABOUT_ACCOUNTS, AuditEntry

from .readonly import ExactCountOff, ReadOnlyMixin, shown_json

MAX_LISTED_CHARACTERS = 80


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyMixin, ExactCountOff):
    list_display = ("created_at", "who", "action", "target", "change", "where_from")
    list_filter = ("action", "origin", "created_at")
    search_fields = ("actor_name", "target", "token_name", "request_id")
    date_hierarchy = "created_at"
    fields = (
        *("created_at", "who", "action", "target", "where_from", "request_id"),
        *("changed_values", "further"),
    )
    readonly_fields = ("who", "where_from", "changed_values", "further")

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEntry]:
        """Hide sign-ins and the like from those who do not manage accounts."""
        entries = super().get_queryset(request)
        if request.user.has_perm("auth.view_user"):
            return entries
        return entries.exclude(action__startswith=ABOUT_ACCOUNTS)

    @admin.display(description="who", ordering="actor_name")
    def who(self, entry: AuditEntry) -> str:
        return entry.actor_name or "nobody signed in"

    @admin.display(description="from", ordering="origin")
    def where_from(self, entry: AuditEntry) -> str:
        if not entry.origin:
            return "not known"
        token = f", token “{entry.token_name}”" if entry.token_name else ""
        return f"{entry.get_origin_display()}{token}"

    @admin.display(description="before and after")
    def change(self, entry: AuditEntry) -> str:
        return "; ".join(f"{name}: {_change(entry, *values)}" for name, *values in _pairs(entry))

    @admin.display(description="before and after")
    def changed_values(self, entry: AuditEntry) -> SafeString | str:
        pairs = list(_pairs(entry))
        if not pairs:
            return "nothing that this entry tells of"
        rows = format_html_join(
            "",
            '<tr><th scope="row">{}</th><td>{}</td><td>{}</td></tr>',
            ((name, shown_json(before), shown_json(after)) for name, before, after in pairs),
        )
        return format_html(
            '<table><thead><tr><th scope="col">what</th><th scope="col">before</th>'
            '<th scope="col">after</th></tr></thead><tbody>{}</tbody></table>',
            rows,
        )

    @admin.display(description="what else belongs to it")
    def further(self, entry: AuditEntry) -> SafeString | str:
        return shown_json(entry.detail) if entry.detail else "nothing"


def _pairs(entry: AuditEntry) -> list[tuple[str, object, object]]:
    """Return name, value before and value after; None for what did not exist."""
    before, after = (each if isinstance(each, dict) else {} for each in (entry.before, entry.after))
    return [(name, before.get(name), after.get(name)) for name in {**before, **after}]


def _change(entry: AuditEntry, before: object, after: object) -> str:
    if entry.before is None:
        return _short(after)
    return f"{_short(before)} → {_short(after) if entry.after is not None else 'gone'}"


def _short(value: object) -> str:
    if value is None or value == []:
        return "none"
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    is_long = len(text) > MAX_LISTED_CHARACTERS
    return f"{text[:MAX_LISTED_CHARACTERS]} …" if is_long else text
