"""The admin site's names; each app registers its own models."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest


class LearnMLAdminSite(AdminSite):
    site_header = "LearnML"
    site_title = "LearnML admin"
    index_title = "Author, grade, operate"

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        # Not above: the site is made before the apps' models are loaded.
        from grader.admin.notices import tell_of_checks

        tell_of_checks(request)
        return super().each_context(request)
