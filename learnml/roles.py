"""The four roles as Django groups, with their permissions.

Code checks permissions, never a group's name, so that operators can define other groups.
"""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import Group, Permission

# Every learner may read, answer and submit without any permission; the group marks the role.
LEARNER = "learner"
AUTHOR = "author"
GRADER = "grader"
OPERATOR = "operator"

CONTENT_ACTIONS = ("add", "change", "delete", "view")
ROLE_PERMISSIONS: dict[str, dict[str, tuple[str, ...]]] = {
    LEARNER: {},
    # app label -> permission codename prefixes or whole codenames
    AUTHOR: {"courses": CONTENT_ACTIONS, "grader": ("change_exercise", "view_exercise")},
    # "Changing" a submission means deciding on one that is held for review, and resubmitting one
    # that the platform failed to grade. Nobody changes its source.
    GRADER: {"courses": ("view",), "grader": ("view", "change_submission")},
    OPERATOR: {"courses": CONTENT_ACTIONS, "grader": CONTENT_ACTIONS, "auth": CONTENT_ACTIONS},
}

MANAGED_APPS = frozenset(label for by_app in ROLE_PERMISSIONS.values() for label in by_app)


def make_roles(**kwargs: Any) -> None:
    """Create the groups and give each exactly the permissions of the table.

    Runs after migrations and with each preparation. In the four groups, permissions of the apps in
    the table are added and removed accordingly, so that narrowing a role takes effect everywhere.
    Permissions of other apps, and other groups, are the operator's and stay: to extend a role,
    define another group beside it.
    """
    for config in apps.get_app_configs():
        create_permissions(config, verbosity=0)
    managed = Permission.objects.filter(content_type__app_label__in=MANAGED_APPS)
    for role, by_app in ROLE_PERMISSIONS.items():
        group, _ = Group.objects.get_or_create(name=role)
        wanted = {
            permission.pk
            for permission in managed.select_related("content_type")
            if _is_given(permission, by_app.get(permission.content_type.app_label, ()))
        }
        had = set(
            group.permissions.filter(content_type__app_label__in=MANAGED_APPS).values_list(
                "pk", flat=True
            )
        )
        group.permissions.remove(*had - wanted)
        group.permissions.add(*wanted - had)


def _is_given(permission: Permission, names: tuple[str, ...]) -> bool:
    return permission.codename in names or permission.codename.split("_")[0] in names
