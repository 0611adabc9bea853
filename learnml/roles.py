"""The four roles as Django groups, and what each may do.

Code asks for permissions, never for a group's name, so that an operator may make other groups.
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
    # To change a submission is to decide on one that is held for review; its source stays.
    GRADER: {"courses": ("view",), "grader": ("view", "change_submission")},
    OPERATOR: {"courses": CONTENT_ACTIONS, "grader": CONTENT_ACTIONS, "auth": CONTENT_ACTIONS},
}


def make_roles(**kwargs: Any) -> None:
    """Create the groups and give each its permissions; runs after each app's migrations."""
    for config in apps.get_app_configs():
        create_permissions(config, verbosity=0)
    for role, by_app in ROLE_PERMISSIONS.items():
        group, _ = Group.objects.get_or_create(name=role)
        wanted: list[Permission] = []
        for app_label, names in by_app.items():
            for permission in Permission.objects.filter(content_type__app_label=app_label):
                if permission.codename in names or permission.codename.split("_")[0] in names:
                    wanted.append(permission)
        group.permissions.add(*wanted)
