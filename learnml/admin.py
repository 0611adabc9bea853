"""The admin site's names; each app registers its own models."""

from __future__ import annotations

from django.contrib.admin import AdminSite


class LearnMLAdminSite(AdminSite):
    site_header = "LearnML"
    site_title = "LearnML admin"
    index_title = "Author, grade, operate"
