"""Work of deleted accounts is kept for graders for a while, anonymously."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.core import serializers
from django.test import Client
from django.utils import timezone

from courses.accounts import deletion
from courses.accounts.names import find_account
from courses.learners import learner_of
from courses.models import DeletedAccount, Learner
from grader import services, tasks
from grader.models import ApiToken, AuditEntry, CodeRun, Draft, Exercise, Extension, Submission
from grader.tests import messages
from grader.tests.calls import ROOT, Api, Submit, assert_problem
from grader.tests.test_deadlines import NOON, due

pytestmark = pytest.mark.postgres

NAME = "ada-lovelace"
PASSWORD = "a long enough phrase"
MAIL = "ada@example.org"


@pytest.fixture
def ada(learner: User) -> User:
    """Whose submissions `submit` makes, with something of everything that an account can have."""
    learner.username, learner.first_name, learner.last_name = NAME, "Ada", "Lovelace"
    learner.email = MAIL
    learner.set_password(PASSWORD)
    learner.save()
    learner.groups.add(Group.objects.get(name="learner"))
    EmailAddress.objects.create(user=learner, email=MAIL, verified=True, primary=True)
    return learner


@pytest.fixture
def graded(
    ada: User, submit: Submit, exercise: Exercise, grader: User, client: Client
) -> Submission:
    submission = submit()
    messages.grade_on_cpu(submission)
    submission.refresh_from_db()
    services.override_score(submission, grader, 0.5, "Copied from the book.")
    due(exercise, NOON)
    client.force_login(grader)
    client.post(
        "/admin/grader/extension/add/",
        {
            "exercise": exercise.pk,
            "learner": NAME,
            "due_at_0": "2027-06-03",
            "due_at_1": "12:00:00",
            "reason": "Ada is ill.",
        },
    )
    client.logout()
    Draft.objects.create(user=ada, exercise=exercise, track="numpy", source="x = 1\n")
    services.create_token(ada, "Ada's script", ["read"])
    learner_of(ada)
    return submission


def leave(client: Client, ada: User) -> str:
    client.force_login(ada)
    page = client.post("/accounts/delete/", {"password": PASSWORD}, follow=True)
    return page.content.decode()


def written_anywhere(word: str) -> set[str]:
    """Return the tables in which a word stands."""
    found = set()
    for model in apps.get_models():
        rows = serializers.serialize("json", model._base_manager.all())
        if word.lower() in json.dumps(json.loads(rows), ensure_ascii=False).lower():
            found.add(model._meta.label)
    return found


def test_the_page_says_which_work_is_kept_and_until_when(
    client: Client, ada: User, graded: Submission, settings: Any
) -> None:
    client.force_login(ada)
    text = client.get("/accounts/delete/").content.decode()
    until = timezone.now() + timedelta(days=30)
    assert f'grades stay until <time datetime="{until:%Y-%m-%d}' in text
    settings.GRADING = {**settings.GRADING, "DELETED_WORK_DAYS": 0}
    text = client.get("/accounts/delete/").content.decode()
    assert "your submissions with their verdicts" in text
    assert "grades stay until" not in text


def test_work_stays_without_the_name_and_all_else_goes(
    client: Client, ada: User, graded: Submission, grader: User, api: Api
) -> None:
    key = ada.pk
    assert "stay until" in leave(client, ada)
    row = User.objects.get(pk=key)
    assert row.username.startswith("deleted-")
    assert not row.is_active
    assert not row.has_usable_password()
    for model in (Draft, CodeRun, ApiToken, EmailAddress, Learner):
        assert not model._default_manager.exists(), model
    # The record of acts keeps the name, and nothing there leads from it to the work.
    for word in (NAME, "Ada is ill", MAIL, "Lovelace", "Ada's script"):
        assert written_anywhere(word) <= {"grader.AuditEntry"}, word
    for entry in AuditEntry.objects.filter(actor_name=NAME):
        assert entry.actor is None
        assert graded.public_id not in entry.target
        assert row.username not in json.dumps([entry.target, entry.detail, entry.before])
    # Graders still have the work, and whose it is to tell it from others'.
    shown = api(grader).get(f"{ROOT}/submissions/{graded.public_id}/").json()
    assert (shown["learner"], shown["score"]) == (row.username, 0.5)
    assert Extension.objects.get().due_at == NOON + timedelta(days=3)
    listed = api(grader).get(f"{ROOT}/submissions/?learner={row.username}").json()["results"]
    assert [each["id"] for each in listed] == [graded.public_id]
    assert_problem(api(grader).get(f"{ROOT}/submissions/?learner={NAME}"), 400)


def test_the_deletion_is_in_the_audit(client: Client, ada: User, graded: Submission) -> None:
    leave(client, ada)
    entry = AuditEntry.objects.get(action="account.deleted")
    assert (entry.actor_name, entry.target, entry.origin) == (NAME, f"user:{NAME}", "page")
    assert entry.detail["submissions"] == 1
    assert entry.detail["kept_until"].startswith(
        f"{DeletedAccount.objects.get().kept_until:%Y-%m-%d}"
    )


def test_the_name_is_free_and_opens_nothing(client: Client, ada: User, graded: Submission) -> None:
    leave(client, ada)
    assert find_account(NAME) is None
    for login in (NAME, MAIL, User.objects.get(deleted_account__isnull=False).username):
        answer = client.post("/accounts/login/", {"login": login, "password": PASSWORD})
        assert answer.status_code == 200
    User.objects.create_user(NAME)


def test_it_is_deleted_for_good_when_the_time_is_over(
    client: Client, ada: User, graded: Submission, other: User
) -> None:
    leave(client, ada)
    until = DeletedAccount.objects.get().kept_until
    assert deletion.remove_kept(until - timedelta(seconds=1)) == 0
    assert Submission.objects.exists()
    assert tasks.remove_work_of_deleted_accounts() == 0
    DeletedAccount.objects.update(kept_until=timezone.now())
    assert tasks.remove_work_of_deleted_accounts() == 1
    assert not Submission.objects.exists()
    assert not Extension.objects.exists()
    assert not User.objects.filter(username__startswith="deleted-").exists()
    assert User.objects.filter(pk=other.pk).exists()


def test_much_work_is_deleted_in_parts(
    client: Client, ada: User, submit: Submit, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.GRADING = {**settings.GRADING, "MAX_OPEN_SUBMISSIONS_PER_LEARNER": 10}
    monkeypatch.setattr(deletion, "ROWS_AT_ONCE", 2)
    for number in range(5):
        submit(f"x = {number}\n")
    leave(client, ada)
    DeletedAccount.objects.update(kept_until=timezone.now())
    assert deletion.remove_kept() == 1
    assert not Submission.objects.exists()


def test_a_verdict_that_comes_later_is_recorded(client: Client, ada: User, submit: Submit) -> None:
    submission = submit()
    leave(client, ada)
    messages.grade_on_cpu(submission)
    submission.refresh_from_db()
    assert submission.outcome == "accepted"


@pytest.mark.parametrize("days", [0, 30])
def test_without_work_or_time_to_keep_it_the_account_goes_at_once(
    client: Client, ada: User, submit: Submit, settings: Any, days: int
) -> None:
    settings.GRADING = {**settings.GRADING, "DELETED_WORK_DAYS": days}
    if not days:
        submit()
    assert "what belonged to it are deleted" in leave(client, ada)
    assert not User.objects.filter(pk=ada.pk).exists()
    assert not Submission.objects.exists()
    assert AuditEntry.objects.get(action="account.deleted").actor_name == NAME


def test_an_operator_deletes_accounts_the_same_way(
    client: Client, ada: User, graded: Submission, other: User
) -> None:
    root = User.objects.create_superuser("root", password=PASSWORD)
    client.force_login(root)
    page = f"/admin/auth/user/{ada.pk}"
    assert client.post(f"{page}/delete/", {"post": "yes"}).status_code == 302
    row = User.objects.get(pk=ada.pk)
    assert row.username.startswith("deleted-")
    assert Submission.objects.filter(user=row).exists()
    entry = AuditEntry.objects.get(action="account.deleted")
    assert (entry.actor, entry.target) == (root, f"user:{NAME}")
    assert not LogEntry.objects.filter(object_repr__contains=NAME).exists()
    # What is kept is nobody's to rename, to sign in with, or to delete before its time.
    client.post(f"{page}/password/", {"password1": "of my own 17", "password2": "of my own 17"})
    assert client.post(f"{page}/delete/", {"post": "yes"}).status_code == 403
    chosen = {"action": "delete_selected", "_selected_action": [other.pk], "post": "yes"}
    assert client.post("/admin/auth/user/", chosen).status_code == 302
    assert not User.objects.filter(pk=other.pk).exists()
    assert User.objects.get(pk=row.pk).has_usable_password() is False
    # Nor does the site lose the only account that can run it.
    assert client.post(f"/admin/auth/user/{root.pk}/delete/", {"post": "yes"}).status_code == 403
