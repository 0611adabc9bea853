"""Error pages promise only what is true, and give typed text back."""

from __future__ import annotations

import errno
import sqlite3
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.db.utils import DatabaseErrorWrapper
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path

from learnml import errors
from learnml.urls import urlpatterns as site

TYPED = "A text of several words,\nwhich somebody <typed> & would not type twice."
SHOWN = "which somebody &lt;typed&gt; &amp; would not type twice."
HERE = {"HTTP_SEC_FETCH_SITE": "same-origin"}
AS_DJANGO_RAISES_IT = DatabaseErrorWrapper(SimpleNamespace(Database=sqlite3))
"""What SQLite raises, in Django's exceptions, also where the site's own database is another."""
FORM = {"title": "Short", "text": TYPED, "csrfmiddlewaretoken": "a-token-of-the-form"}


def fail(request: HttpRequest) -> HttpResponse:
    raise OSError("the disk is full")


def last_too_long(request: HttpRequest) -> HttpResponse:
    return errors.took_too_long(request)


def find_no_room(request: HttpRequest) -> HttpResponse:
    database = sqlite3.connect(":memory:")
    database.execute("PRAGMA max_page_count = 2")
    with AS_DJANGO_RAISES_IT:
        database.execute("CREATE TABLE t AS SELECT zeroblob(100000)")
    return HttpResponse("never")


def find_no_table(request: HttpRequest) -> HttpResponse:
    with AS_DJANGO_RAISES_IT:
        sqlite3.connect(":memory:").execute("SELECT * FROM missing")
    return HttpResponse("never")


def find_no_room_for_a_file(request: HttpRequest) -> HttpResponse:
    raise OSError(errno.ENOSPC, "No space left on device")


def find_no_database(request: HttpRequest) -> HttpResponse:
    # As the driver of PostgreSQL says it.
    raise OperationalError("connection failed") from Exception("connection refused")


urlpatterns = [
    path("fail/", fail),
    path("long/", last_too_long),
    path("no-room/", find_no_room),
    path("api/v1/no-room/", find_no_room),
    path("no-table/", find_no_table),
    path("no-room-for-a-file/", find_no_room_for_a_file),
    path("no-database/", find_no_database),
    *site,
]
handler403 = "learnml.errors.permission_denied"
handler500 = "learnml.errors.server_error"

pytestmark = pytest.mark.urls(__name__)


@pytest.fixture
def client() -> Client:
    return Client(raise_request_exception=False)


@pytest.mark.parametrize(
    ("address", "status"),
    [("/fail/?a=1&b=2", 500), ("/long/", 503), ("/no-room/", 503), ("/no-table/", 500)],
)
def test_what_was_sent_is_shown_and_can_be_sent_again(
    client: Client, address: str, status: int
) -> None:
    response = client.post(address, FORM, **HERE)
    page = response.content.decode()
    assert response.status_code == status
    assert f'action="{address.replace("&", "&amp;")}"' in page
    assert page.count(SHOWN) == 2  # to be read, and to be sent
    assert 'name="title" value="Short"' in page
    assert "a-token-of-the-form" not in page
    assert "may not have been stored" in page
    # What is not known to be true is not said.
    assert "stored the moment they arrive" not in page


@pytest.mark.django_db
@pytest.mark.parametrize(
    "address", ["/no-room/", "/no-room-for-a-file/", "/no-database/", "/api/v1/no-room/"]
)
def test_what_passes_is_told_with_a_time_to_come_back(client: Client, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 503
    assert int(response.headers["Retry-After"]) > 0
    if address.startswith("/api/"):
        assert response.json()["code"] == "unavailable"
    else:
        assert "cannot do this at the moment" in response.content.decode()


def test_a_form_with_a_password_is_not_given_back_whole(client: Client) -> None:
    page = client.post("/fail/", {**FORM, "password1": "correct horse"}, **HERE).content.decode()
    assert SHOWN in page
    assert "correct horse" not in page
    assert "Send it again" not in page


@pytest.mark.parametrize(
    ("headers", "shown", "again"),
    [
        ({"HTTP_SEC_FETCH_SITE": "cross-site"}, False, False),
        ({"HTTP_ORIGIN": "https://elsewhere.example"}, False, False),
        ({}, True, False),
        ({"HTTP_ORIGIN": "http://testserver"}, True, True),
    ],
)
def test_nothing_that_another_site_sent_is_shown_or_sent_on(
    client: Client, headers: dict[str, Any], shown: bool, again: bool
) -> None:
    page = client.post("/fail/", FORM, **headers).content.decode()
    assert (SHOWN in page, "Send it again" in page) == (shown, again)


def test_a_page_that_was_only_asked_for_gives_nothing_back(client: Client) -> None:
    page = client.get("/fail/").content.decode()
    assert "What you sent" not in page


@pytest.mark.django_db
def test_a_form_without_its_token_is_refused_with_what_was_typed() -> None:
    page = Client(enforce_csrf_checks=True).post("/accounts/login/", FORM)
    assert page.status_code == 403
    assert SHOWN in page.content.decode()
    assert "Send it again" not in page.content.decode()


@pytest.mark.django_db
def test_what_somebody_may_not_do_is_refused_with_what_was_typed(client: Client) -> None:
    user = User.objects.create_user("grader", is_staff=True)
    client.force_login(user)
    page = client.post("/admin/courses/chapter/add/", FORM, **HERE)
    assert page.status_code == 403
    assert SHOWN in page.content.decode()


@pytest.mark.django_db
def test_a_form_that_is_too_large_is_said_to_be_and_no_text_is_promised(client: Client) -> None:
    client.force_login(User.objects.create_user("author", is_staff=True))
    large = {"text": "a" * (17 * 1024 * 1024)}
    page = client.post("/admin/courses/chapter/add/", large).content.decode()
    assert "A form may take 16 MB" in page
    assert "This page does not have your text" in page
    assert "64 KB" not in page
