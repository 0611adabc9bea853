"""The four roles carry what the table says, no more and no less."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, Permission

from learnml import prepare, roles

pytestmark = pytest.mark.django_db


def permission(codename: str) -> Permission:
    return Permission.objects.get(codename=codename)


def names(role: str) -> set[str]:
    return set(Group.objects.get(name=role).permissions.values_list("codename", flat=True))


def test_permissions_that_a_role_has_no_more_are_taken_away() -> None:
    before = {role: names(role) for role in roles.ROLE_PERMISSIONS}
    for role in before:
        group = Group.objects.get(name=role)
        group.permissions.add(permission("delete_submission"), permission("change_user"))
    roles.make_roles()
    assert {role: names(role) for role in before} == before
    assert "delete_submission" not in names(roles.GRADER)
    assert "delete_submission" in names(roles.OPERATOR)


def test_permissions_that_are_missing_are_given_again() -> None:
    Group.objects.get(name=roles.GRADER).permissions.clear()
    roles.make_roles()
    assert {"view_submission", "change_submission", "view_chapter"} <= names(roles.GRADER)


def test_a_graders_only_change_is_a_decision() -> None:
    changes = {name for name in names(roles.GRADER) if not name.startswith("view_")}
    assert changes == {"change_submission"}


def test_groups_and_permissions_of_an_operator_stay() -> None:
    own = Group.objects.create(name="teaching assistants")
    own.permissions.add(permission("delete_submission"))
    Group.objects.get(name=roles.AUTHOR).permissions.add(permission("view_session"))
    roles.make_roles()
    assert names("teaching assistants") == {"delete_submission"}
    assert "view_session" in names(roles.AUTHOR)


def test_preparing_applies_a_changed_table_without_a_migration() -> None:
    Group.objects.get(name=roles.LEARNER).permissions.add(permission("change_submission"))
    assert not prepare.pending_migrations()
    prepare.prepare_database(lambda text: None)
    assert names(roles.LEARNER) == set()
