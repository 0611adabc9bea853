"""Searching for people in the admin."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from courses.accounts import names


class FoldedSearchMixin(admin.ModelAdmin):
    """For lists that search `..account_name__folded`: names are found whatever the case.

    SQLite alone would find other case of A to Z only.
    """

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return super().get_search_results(request, queryset, names.folded(search_term))
