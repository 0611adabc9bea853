"""A form that is sent when the session has ended is there again after signing in, and not saved."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from courses import held_forms
from courses.models import Chapter, ChapterRevision, HeldForm
from courses.tests.admin_forms import change_url, form_data, send
from courses.tests.conftest import TINY, client_of_author, import_once
from grader import tasks
from grader.models import Exercise

TYPED = "Typed for an hour."

pytestmark = pytest.mark.django_db


@pytest.fixture
def rows(db: None) -> Chapter:
    import_once(TINY)
    return Chapter.objects.get(slug="rows")


@pytest.fixture
def author(rows: Chapter) -> Client:
    return client_of_author("author")


def end_session(client: Client) -> None:
    """Sign out in another tab, or wait until the session has aged."""
    del client.cookies[settings.SESSION_COOKIE_NAME]


def sent_too_late(client: Client, url: str, **changes: Any) -> str:
    """Open a form, let the session end, and send it; return the address after signing in."""
    data = form_data(client.get(url))
    end_session(client)
    response = send(client, url, data, **changes)
    assert response.status_code == 302
    sign_in = client.get(response.url)
    assert sign_in.url.startswith(reverse("account_login"))
    assert client.get(sign_in.url).status_code == 200
    (address,) = parse_qs(urlsplit(sign_in.url).query)["next"]
    return address


def test_the_form_is_back_after_signing_in_and_saved_when_its_author_says_so(
    author: Client, rows: Chapter
) -> None:
    address = sent_too_late(author, change_url(rows), intuition=TYPED, title="New")
    author.force_login(User.objects.get(username="author"))
    page = author.get(address)
    assert page.status_code == 200
    text = page.content.decode()
    assert "Your session had ended" in text
    assert TYPED in text
    assert 'value="New"' in text
    # Looking at it has done nothing.
    rows.refresh_from_db()
    assert rows.title == "Rows"
    assert ChapterRevision.objects.filter(chapter=rows).count() == 1
    assert HeldForm.objects.exists()
    assert send(author, address, form_data(page)).status_code == 302
    rows.refresh_from_db()
    assert (rows.title, rows.intuition) == ("New", TYPED)
    assert not HeldForm.objects.exists()


def test_nobody_else_sees_it_and_its_author_is_told_of_it(author: Client, rows: Chapter) -> None:
    address = sent_too_late(author, change_url(rows), intuition=TYPED)
    other = client_of_author("other")
    author.cookies[settings.SESSION_COOKIE_NAME] = other.cookies[settings.SESSION_COOKIE_NAME]
    for path in (address, "/admin/"):
        page = author.get(path).content.decode()
        assert TYPED not in page
        assert "session had ended" not in page
    author.force_login(User.objects.get(username="author"))
    page = author.get("/admin/").content.decode()
    assert address in page
    assert "A form that you sent when your session had ended is kept for a day" in page


@pytest.mark.parametrize(
    ("headers", "cookie", "kept"),
    [
        ({"HTTP_SEC_FETCH_SITE": "same-origin"}, True, True),
        ({"HTTP_SEC_FETCH_SITE": "cross-site"}, True, False),
        ({"HTTP_SEC_FETCH_SITE": "same-site"}, True, False),
        ({"HTTP_ORIGIN": "https://elsewhere.example"}, True, False),
        ({}, False, False),
    ],
)
def test_only_what_a_page_of_this_site_sent_for_a_known_author_is_kept(
    author: Client, rows: Chapter, headers: dict[str, Any], cookie: bool, kept: bool
) -> None:
    author.get("/admin/")
    end_session(author)
    if not cookie:
        author.cookies.clear()
    response = author.post(change_url(rows), {"intuition": TYPED}, **headers)
    assert response.status_code == 302
    assert (HeldForm.objects.exists(), "held" in response.url) == (kept, kept)


def test_a_forged_cookie_is_nobodys(author: Client, rows: Chapter) -> None:
    author.get("/admin/")
    author.cookies[held_forms.COOKIE] = f"{author.cookies[held_forms.COOKIE].value}x"
    end_session(author)
    author.post(change_url(rows), {"intuition": TYPED})
    assert not HeldForm.objects.exists()


def test_a_form_whose_token_is_out_of_date_is_kept_too(author: Client, rows: Chapter) -> None:
    """Signed in again in another tab: the session is there, and the form's token is not its."""
    author.get("/admin/")
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = author.cookies
    refused = strict.post(change_url(rows), {"intuition": TYPED, "csrfmiddlewaretoken": "old"})
    assert refused.status_code == 403
    held = HeldForm.objects.get()
    assert held_forms.address_of(held) in refused.content.decode()
    assert TYPED in strict.get(held_forms.address_of(held)).content.decode()


def test_what_another_author_saved_meanwhile_is_told(author: Client, rows: Chapter) -> None:
    address = sent_too_late(author, change_url(rows), intuition=TYPED)
    Chapter.objects.filter(pk=rows.pk).update(summary="The other's.")
    author.force_login(User.objects.get(username="author"))
    page = author.get(address)
    assert "changed meanwhile" in page.content.decode()
    assert TYPED in page.content.decode()


def test_few_forms_are_kept_and_not_for_long(author: Client, rows: Chapter) -> None:
    author.get("/admin/")
    end_session(author)
    for key in range(held_forms.MAX_HELD + 2):
        author.post(f"/admin/courses/chapter/{key}/change/", {"intuition": TYPED})
    assert HeldForm.objects.count() == held_forms.MAX_HELD
    assert not HeldForm.objects.filter(path="/admin/courses/chapter/0/change/").exists()
    HeldForm.objects.update(created_at=timezone.now() - held_forms.KEPT_FOR - timedelta(minutes=1))
    held = HeldForm.objects.latest("path")
    author.force_login(User.objects.get(username="author"))
    assert TYPED not in author.get(held_forms.address_of(held)).content.decode()
    tasks.end_runs()
    assert not HeldForm.objects.exists()


def test_passwords_are_not_kept(client: Client) -> None:
    client.force_login(User.objects.create_superuser("root"))
    client.get("/admin/")
    end_session(client)
    form = {"username": "new", "password1": "correct horse", "password2": "correct horse"}
    client.post("/admin/auth/user/add/", form)
    data = held_forms.data_of(HeldForm.objects.get())
    assert data.dict() == {"username": "new"}
    client.force_login(User.objects.get(username="root"))
    page = client.get(held_forms.address_of(HeldForm.objects.get()))
    assert 'value="new"' in page.content.decode()
    assert not User.objects.filter(username="new").exists()


def test_an_account_is_added_without_hashing_within_the_transaction(client: Client) -> None:
    """Otherwise the watch over transactions fails this test."""
    client.force_login(User.objects.create_superuser("root"))
    words = "a-password-of-some-length"
    form = {"username": "new", "password1": words, "password2": words, "usable_password": "true"}
    assert client.post("/admin/auth/user/add/", form).status_code == 302
    assert User.objects.get(username="new").check_password(words)


def test_a_new_exercise_is_kept_as_well(author: Client) -> None:
    exercise = Exercise.objects.create(slug="rmsnorm", title="T", summary="S", statement="S")
    url = reverse("admin:grader_exercise_change", args=[exercise.pk])
    address = sent_too_late(author, url, statement=TYPED)
    author.force_login(User.objects.get(username="author"))
    page = author.get(address)
    assert TYPED in page.content.decode()
    assert send(author, address, form_data(page)).status_code == 302
    exercise.refresh_from_db()
    assert exercise.statement == TYPED
