"""The audit log: values before and after, and the origin of each act; also for accounts."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import DatabaseError
from django.test import Client
from django.urls import reverse

from grader import services
from grader.models import AuditEntry, Submission
from grader.services import account_acts
from grader.tests.calls import ROOT, Api, Submit, basic
from grader.tests.messages import verdict, worker

LOGIN = "/accounts/login/"


def acts(*actions: str) -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(action__in=actions).order_by("id"))


def told(entry: AuditEntry) -> tuple[Any, ...]:
    return (entry.actor_name, entry.target, entry.before, entry.after, entry.origin)


@pytest.fixture
def operator(db: None) -> User:
    return User.objects.create_superuser("operator", password="operator-password")


@pytest.fixture
def graded(submit: Submit) -> Submission:
    submission = submit()
    worker.record_verdict(verdict(submission, "wrong_answer", score=0.25))
    return Submission.objects.get()


class TestWhereFrom:
    def test_the_rest_api_with_the_tokens_name(
        self, graded: Submission, grader: User, api: Api
    ) -> None:
        url = f"{ROOT}/submissions/{graded.public_id}/override/"
        body = {"score": 0.5, "reason": "The idea is right."}
        client = api(grader, "read", "grade")
        assert client.put(url, body, format="json", headers={"If-Match": "*"}).status_code == 200
        (entry,) = acts("override.set")
        assert (entry.origin, entry.token_name) == ("rest", grader.api_tokens.get().name)
        assert entry.before == {"score": 0.25, "reason": None}
        assert entry.after == {"score": 0.5, "reason": "The idea is right."}

    def test_the_rest_api_with_a_password_has_no_tokens_name(self, learner: User) -> None:
        client = Client()
        body = {"name": "laptop", "scopes": ["read"]}
        headers = basic("learner", "learner-password")
        made = client.post(
            f"{ROOT}/tokens/", body, content_type="application/json", headers=headers
        )
        assert made.status_code == 201
        (entry,) = acts("token.created")
        assert (entry.origin, entry.token_name) == ("rest", "")
        assert (entry.after["name"], entry.after["scopes"]) == ("laptop", ["read"])

    def test_a_page(self, submit: Submit, learner: User, client: Client) -> None:
        submission = submit()
        worker.record_verdict(verdict(submission, "not_gradable"))
        client.force_login(learner)
        client.post(reverse("grader:resubmit", args=[submission.public_id]))
        (entry,) = acts("submission.resubmitted")
        assert (entry.origin, entry.token_name) == ("page", "")

    def test_acts_without_a_request_are_the_servers(self, learner: User) -> None:
        services.create_token(learner, "laptop", ["read"])
        assert acts("token.created")[0].origin == "server"

    def test_one_request_tells_nothing_of_the_next(
        self, learner: User, api: Api, client: Client
    ) -> None:
        assert api(learner).get(f"{ROOT}/submissions/").status_code == 200
        services.create_token(learner, "laptop", ["read"])
        assert (acts("token.created")[-1].origin, acts("token.created")[-1].token_name) == (
            "server",
            "",
        )


class TestSigningIn:
    def test_is_written_down(self, learner: User, client: Client) -> None:
        answer = client.post(LOGIN, {"login": "learner", "password": "learner-password"})
        assert answer.status_code == 302
        (entry,) = acts("account.signed_in")
        assert told(entry) == ("learner", "user:learner", None, None, "page")
        assert entry.actor == learner

    @pytest.mark.parametrize("login", ["learner", "LEARNER", "learner@example.org"])
    def test_a_failed_one_names_the_account_and_not_the_password(
        self, learner: User, client: Client, login: str
    ) -> None:
        client.post(LOGIN, {"login": login, "password": "guess-4711"})
        (entry,) = acts("account.sign_in_failed")
        assert told(entry) == ("", "user:learner", None, None, "page")
        assert "4711" not in str(list(AuditEntry.objects.values()))

    def test_unknown_names_are_not_stored_they_may_be_passwords(
        self, learner: User, client: Client
    ) -> None:
        client.post(LOGIN, {"login": "learner-password", "password": "x"})
        (entry,) = acts("account.sign_in_failed")
        assert entry.target == "user"
        assert "learner-password" not in str(list(AuditEntry.objects.values()))

    def test_a_wrong_password_over_the_rest_api(self, learner: User, client: Client) -> None:
        answer = client.get(f"{ROOT}/tokens/", headers=basic("learner", "guess"))
        assert answer.status_code == 401
        assert told(acts("account.sign_in_failed")[0]) == ("", "user:learner", None, None, "rest")

    def test_a_wrong_password_is_reported_where_nothing_can_be_written(
        self, learner: User, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: object, **__: object) -> None:
            raise DatabaseError("database or disk is full")

        monkeypatch.setattr(account_acts, "record_act", full)
        answer = client.get(f"{ROOT}/tokens/", headers=basic("learner", "guess"))
        assert answer.status_code == 401


class TestRights:
    def test_each_way_to_give_them_tells_before_and_after(
        self, learner: User, operator: User, client: Client
    ) -> None:
        client.force_login(operator)
        group = Group.objects.get(name="grader")
        url = reverse("admin:auth_user_change", args=[learner.pk])
        data = {
            "username": "learner",
            "is_active": "on",
            "is_staff": "on",
            "groups": [group.pk],
            "date_joined_0": "2026-01-01",
            "date_joined_1": "00:00:00",
        }
        assert client.post(url, data).status_code == 302
        flags, groups = acts("account.roles_changed")[-2:]
        assert told(flags) == (
            *("operator", "user:learner", {"is_staff": False}, {"is_staff": True}, "page"),
        )
        assert told(groups) == (
            *("operator", "user:learner", {"groups": []}, {"groups": ["grader"]}, "page"),
        )
        # The same from the group's side, from a shell.
        group.user_set.clear()
        entry = acts("account.roles_changed")[-1]
        assert told(entry) == (
            *("", "user:learner", {"groups": ["grader"]}, {"groups": []}, "server"),
        )
        permission = group.permissions.order_by("pk").first()
        assert permission is not None
        learner.user_permissions.add(permission)
        entry = acts("account.roles_changed")[-1]
        assert entry.before == {"permissions": []}
        assert len(entry.after["permissions"]) == 1

    def test_a_change_of_nothing_is_not_recorded(self, learner: User, grader: User) -> None:
        known = AuditEntry.objects.count()
        grader.user_permissions.set(grader.user_permissions.all())
        learner.first_name = "Lea"
        learner.save()
        assert AuditEntry.objects.count() == known

    def test_an_account_made_with_rights(self, operator: User) -> None:
        entry = acts("account.roles_changed")[0]
        assert told(entry) == (
            *("", "user:operator", None, {"is_staff": True, "is_superuser": True}, "server"),
        )

    def test_what_a_group_may(self, operator: User, client: Client) -> None:
        client.force_login(operator)
        group = Group.objects.create(name="helpers")
        kept = Group.objects.get(name="author").permissions.order_by("pk").first()
        assert kept is not None
        url = reverse("admin:auth_group_change", args=[group.pk])
        assert client.post(url, {"name": "helpers", "permissions": [kept.pk]}).status_code == 302
        (entry,) = acts("account.role_changed")
        name = f"{kept.content_type.app_label}.{kept.codename}"
        assert told(entry) == (
            *("operator", "group:helpers", {"permissions": []}, {"permissions": [name]}, "page"),
        )

    def test_another_name(self, learner: User) -> None:
        learner.username = "lea"
        learner.save()
        (entry,) = acts("account.renamed")
        assert (entry.before, entry.after) == ({"username": "learner"}, {"username": "lea"})


class TestTheEndOfAnAccount:
    def test_by_its_owner(self, learner: User, client: Client) -> None:
        client.force_login(learner)
        answer = client.post(reverse("courses:delete_account"), {"password": "learner-password"})
        assert answer.status_code == 302
        (entry,) = acts("account.deleted")
        assert (entry.actor_name, entry.actor, entry.target) == ("learner", None, "user:learner")
        assert entry.before == {"is_active": True, "is_staff": False, "is_superuser": False}
        assert (entry.after, entry.origin) == (None, "page")

    def test_by_an_operator(self, learner: User, operator: User, client: Client) -> None:
        client.force_login(operator)
        url = reverse("admin:auth_user_delete", args=[learner.pk])
        assert client.post(url, {"post": "yes"}).status_code == 302
        (entry,) = acts("account.deleted")
        assert (entry.actor, entry.target) == (operator, "user:learner")


class TestTheAdmin:
    def test_shows_it_and_sign_ins_to_those_who_manage_accounts(
        self, graded: Submission, grader: User, operator: User
    ) -> None:
        grader.user_permissions.add(*Group.objects.get(name="grader").permissions.all())
        services.override_score(graded, grader, 0.5, "<The idea is right.>")
        address = reverse("admin:grader_auditentry_changelist")
        for user, sees_accounts in ((grader, False), (operator, True)):
            client = Client()
            client.force_login(user)
            page = client.get(address).content.decode()
            assert "score: 0.25 → 0.5" in page
            assert "the server: a command or a task" in page
            assert ("signed in</td>" in page) is sees_accounts
            entry = acts("override.set")[0]
            change = reverse("admin:grader_auditentry_change", args=[entry.pk])
            detail = client.get(change).content.decode()
            assert "&lt;The idea is right.&gt;" in detail
