"""Read-only admin pages: submissions and workers' reports are never edited."""

from __future__ import annotations

import json
from typing import Any, Final

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from grader.models import Submission
from grader.presentation.hidden_characters import with_hidden_marked

MAX_SEARCHED_WORDS: Final = 10


class ReadOnlyMixin:
    """Nobody adds, changes or deletes here."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def preformatted(text: str) -> SafeString:
    """Show text verbatim, escaped, with hidden characters marked."""
    return format_html('<pre translate="no" tabindex="0">{}</pre>', with_hidden_marked(text))


def shown_source(submission: Submission) -> SafeString:
    return preformatted(submission.source)


def shown_report(submission: Submission) -> SafeString:
    return shown_json(submission.report)


def shown_json(value: Any) -> SafeString:
    return preformatted(json.dumps(value, indent=2, ensure_ascii=False))


class ExactCountOff(admin.ModelAdmin):
    """Lists of large tables: without the total count, and with a limit on search words."""

    show_full_result_count = False
    list_per_page = 50

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        # Each word is a condition on each field: databases allow a thousand, not ten thousand.
        words = search_term.split()[:MAX_SEARCHED_WORDS]
        return super().get_search_results(request, queryset, " ".join(words))
