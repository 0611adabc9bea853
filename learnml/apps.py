"""The site's own Django app: roles, health, management commands; and the admin it serves."""

from __future__ import annotations

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig
from django.db.models.signals import post_migrate


class LearnMLConfig(AppConfig):
    name = "learnml"
    verbose_name = "LearnML"

    def ready(self) -> None:
        from learnml import checks  # noqa: F401  registers the system checks
        from learnml.roles import make_roles

        post_migrate.connect(make_roles, dispatch_uid="learnml.roles")


class LearnMLAdminConfig(AdminConfig):
    default_site = "learnml.admin.LearnMLAdminSite"
