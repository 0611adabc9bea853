"""The site's own Django app: roles, health, management commands, and the admin."""

from __future__ import annotations

from django.apps import AppConfig, apps
from django.contrib.admin.apps import AdminConfig
from django.db.models.signals import post_migrate


class LearnMLConfig(AppConfig):
    name = "learnml"
    verbose_name = "LearnML"

    def ready(self) -> None:
        # Registers the system checks; makes the site's Celery app the one that tasks belong to.
        from learnml import celery, checks  # noqa: F401
        from learnml.roles import make_roles

        # Once, though every app with models sends the signal; all migrations have run by then.
        auth = apps.get_app_config("auth")
        post_migrate.connect(make_roles, sender=auth, dispatch_uid="learnml.roles")


class LearnMLAdminConfig(AdminConfig):
    default_site = "learnml.admin.LearnMLAdminSite"
