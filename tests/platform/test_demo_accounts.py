"""Demo accounts: only on one's own machine, only where nobody has an account yet."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.test import Client
from pytest_django.fixtures import Settings

from learnml import demo, prepare

pytestmark = pytest.mark.django_db


def usernames() -> set[str]:
    return set(get_user_model().objects.values_list("username", flat=True))


def test_one_account_for_each_role_with_its_group() -> None:
    accounts = demo.make_demo_accounts("a-password")
    assert accounts is not None
    assert usernames() == {"learner", "author", "grader"} == set(accounts.usernames)
    for user in get_user_model().objects.all():
        assert [group.name for group in user.groups.all()] == [user.username]
        assert user.check_password("a-password")
        assert not user.is_superuser


def test_author_and_grader_reach_the_admin_and_the_learner_does_not(client: Client) -> None:
    demo.make_demo_accounts("a-password")
    for name, allowed in (("author", True), ("grader", True), ("learner", False)):
        client.login(username=name, password="a-password")
        assert (client.get("/admin/").status_code == 200) is allowed, name
        client.logout()


def test_author_may_edit_chapters_and_grader_may_only_see_them() -> None:
    demo.make_demo_accounts("a-password")
    author = get_user_model().objects.get(username="author")
    grader = get_user_model().objects.get(username="grader")
    assert author.has_perm("courses.change_chapter")
    assert grader.has_perm("courses.view_chapter")
    assert grader.has_perm("grader.view_submission")
    assert not grader.has_perm("courses.change_chapter")
    assert not author.has_perm("grader.view_submission")


def test_nothing_is_made_where_there_is_an_account() -> None:
    get_user_model().objects.create_user("somebody")
    assert demo.make_demo_accounts("a-password") is None
    assert usernames() == {"somebody"}


def test_random_password_is_long_and_never_the_same() -> None:
    first = demo.make_demo_accounts()
    assert first is not None
    assert len(first.password) == 14
    assert len({demo.random_password() for _ in range(50)}) == 50


def test_settings_can_refuse(settings: Settings) -> None:
    settings.DEMO_ACCOUNTS_ALLOWED = False
    with pytest.raises(demo.DemoAccountsRefused, match="createsuperuser"):
        demo.make_demo_accounts("a-password")
    assert usernames() == set()


def test_production_refuses() -> None:
    from learnml.settings import base

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEARNML_SECRET_KEY", "k" * 60)
        from learnml.settings import production
    assert not hasattr(base, "DEMO_ACCOUNTS_ALLOWED"), "no default that could be forgotten"
    assert production.DEMO_ACCOUNTS_ALLOWED is False


def test_preparation_makes_none_where_they_are_refused(settings: Settings, tmp_path: Path) -> None:
    settings.DEMO_ACCOUNTS_ALLOWED = False
    settings.DATA_DIR = tmp_path
    prepare.prepare_demo_accounts(lambda text: None, "a-password")
    assert usernames() == set()
    assert list(tmp_path.iterdir()) == []


def test_password_is_noted_for_the_owner_alone(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    said: list[str] = []
    prepare.prepare_demo_accounts(said.append, "a-password")
    note = tmp_path / "demo_accounts.json"
    assert json.loads(note.read_text())["password"] == "a-password"
    assert stat.S_IMODE(note.stat().st_mode) == 0o600
    assert "a-password" not in " ".join(said)


def test_roles_are_made_again_by_migrating(django_user_model: object) -> None:
    from django.contrib.auth.models import Group

    Group.objects.all().delete()
    call_command("migrate", verbosity=0)
    assert {"learner", "author", "grader", "operator"} <= set(
        Group.objects.values_list("name", flat=True)
    )
