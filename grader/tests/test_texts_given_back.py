"""Refused texts are given back: scripts get the reason, others the text in the page."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from grader.models import CodeRun, Draft, Exercise, Submission

FETCH = {"X-Requested-With": "fetch"}
TEXT = "# precious <work>\nclass A:\n    pass\n"
SHOWN = "# precious &lt;work&gt;\nclass A:\n    pass\n"
ACTIONS = ("submit", "draft", "run_public_cases")


def send(client: Client, exercise: Exercise, action: str = "submit", **more: Any) -> Any:
    url = reverse(f"grader:{action}", args=[exercise.slug])
    data = {"source": TEXT, "track": "numpy", "key": "k1", "seen": "0", **more.pop("data", {})}
    return client.post(url, data, **more)


@pytest.mark.parametrize("action", ACTIONS)
def test_a_signed_out_learners_page_gives_the_text_back_to_be_sent_again(
    client: Client, learner: User, exercise: Exercise, action: str
) -> None:
    response = send(client, exercise, action)
    page = response.content.decode()
    assert response.status_code == 401
    assert f">\n{SHOWN}</textarea>" in page
    assert f'href="{reverse("account_login")}?next=' in page
    assert not Submission.objects.exists()

    # Signed in meanwhile, in another tab: the page's form does what was wanted.
    client.force_login(learner)
    fields = response.context["fields"]
    assert client.post(response.context["action"], {**fields, "source": TEXT}).status_code == 303
    stored = {"submit": Submission, "draft": Draft, "run_public_cases": CodeRun}[action]
    assert stored.objects.get().source == TEXT


def test_a_file_that_was_chosen_comes_back_as_text(client: Client, exercise: Exercise) -> None:
    file = SimpleUploadedFile("mine.py", TEXT.encode())
    response = send(client, exercise, data={"source": "", "file": file})
    assert SHOWN in response.content.decode()


@pytest.mark.parametrize("action", ["submit", "draft"])
def test_a_signed_out_script_gets_the_sign_in_address(
    client: Client, exercise: Exercise, action: str
) -> None:
    response = send(client, exercise, action, headers=FETCH)
    assert response.status_code == 401
    assert response.json()["sign_in"].startswith(reverse("account_login"))
    assert "exercises%2Frmsnorm%2F%3Ftrack%3Dnumpy" in response.json()["sign_in"]


def test_a_script_gets_the_version_of_the_stored_draft(
    client: Client, learner: User, exercise: Exercise
) -> None:
    client.force_login(learner)
    response = send(client, exercise, headers=FETCH)
    submission, draft = Submission.objects.get(), Draft.objects.get()
    assert response.status_code == 201
    assert response.json() == {
        "url": submission.get_absolute_url(),
        "version": draft.version,
        "saved_at": draft.updated_at.isoformat(),
    }
    # A file is stored as the submission, and the editor's text is not: no version says it was.
    file = SimpleUploadedFile("mine.py", b"x = 1\n")
    answer = send(client, exercise, data={"file": file}, headers=FETCH).json()
    assert set(answer) == {"url"}


def test_a_refused_submission_tells_a_script_why(
    client: Client, learner: User, exercise: Exercise, settings: Any
) -> None:
    client.force_login(learner)
    response = send(client, exercise, data={"source": "#" * 70_000}, headers=FETCH)
    assert (response.status_code, "65,536" in response.json()["message"]) == (413, True)
    settings.GRADING = {**settings.GRADING, "SUBMISSIONS_PER_MINUTE": 1}
    send(client, exercise, data={"source": "x = 1"}, headers=FETCH)
    response = send(client, exercise, data={"source": "x = 2"}, headers=FETCH)
    assert response.status_code == 429
    assert int(response["Retry-After"]) > 0
    assert response.json()["message"]


def test_a_form_without_its_token_gives_the_text_back_but_no_button(
    learner: User, exercise: Exercise
) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(learner)
    for action in ACTIONS:
        response = send(strict, exercise, action)
        page = response.content.decode()
        assert response.status_code == 403
        assert SHOWN in page
        assert "<form" not in page
    password = strict.post(reverse("account_login"), {"login": "a", "password": "secret-1234"})
    assert password.status_code == 403
    assert "secret-1234" not in password.content.decode()


@pytest.mark.parametrize("action", ACTIONS)
def test_a_page_of_another_account_stores_nothing_for_the_one_signed_in_since(
    client: Client, learner: User, other: User, exercise: Exercise, action: str
) -> None:
    client.force_login(learner)
    made_for = client.get(exercise.get_absolute_url()).context["made_for"]
    assert made_for
    client.force_login(other)
    told = send(client, exercise, action, data={"made_for": made_for}, headers=FETCH)
    assert told.status_code == 403
    assert f"{other.username} is signed in" in told.content.decode()
    page = send(client, exercise, action, data={"made_for": made_for})
    assert page.status_code == 403
    assert SHOWN in page.content.decode()
    assert not Submission.objects.exists()
    assert not Draft.objects.exists()
    assert not CodeRun.objects.exists()

    # By a press of the button that says so, it is sent as the one who is signed in.
    fields = page.context["fields"]
    assert client.post(page.context["action"], {**fields, "source": TEXT}).status_code == 303

    client.force_login(learner)
    own = send(client, exercise, action, data={"made_for": made_for, "key": "k2"})
    assert own.status_code == 303
