"""Requests that compute for too long are ended; waiting ones are not."""

from __future__ import annotations

import sqlite3
import time

import pytest
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from pytest_django.fixtures import Settings

from learnml.middleware import compute_limit

UNENDING_SECONDS = 60.0
"""Of processor time, after which a view of these tests gives up: it should have been ended."""


def spin(request: HttpRequest) -> HttpResponse:
    until = time.thread_time() + UNENDING_SECONDS
    while time.thread_time() < until:
        pass
    return HttpResponse("never")


def swallow_and_spin(request: HttpRequest) -> HttpResponse:
    try:
        return spin(request)
    except compute_limit.ComputedTooLong:
        return spin(request)


def wait(request: HttpRequest) -> HttpResponse:
    # Longer than the limit of these tests, without computing.
    time.sleep(0.6)
    return HttpResponse("waited")


def query(request: HttpRequest) -> HttpResponse:
    database = sqlite3.connect(":memory:")
    connection.connection = database
    try:
        database.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        )
    finally:
        connection.connection = None
    return HttpResponse("never")


urlpatterns = [
    path("spin/", spin),
    path("api/v1/spin/", spin),
    path("swallow/", swallow_and_spin),
    path("wait/", wait),
    path("query/", query),
]


@pytest.fixture
def client(settings: Settings) -> Client:
    settings.ROOT_URLCONF = __name__
    settings.MIDDLEWARE = ["learnml.middleware.compute_limit.ComputeLimitMiddleware"]
    settings.REQUEST_COMPUTE_LIMIT_SECONDS = 0.3
    return Client(raise_request_exception=False)


def test_a_page_that_computes_without_end_is_ended(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    response = client.get("/spin/")
    assert response.status_code == 503
    assert "may not have been stored" in response.content.decode()
    assert "GET /spin/ computed for more than 0.3 s and was ended." in caplog.text


def test_a_call_is_told_in_a_problem_document(client: Client) -> None:
    response = client.get("/api/v1/spin/")
    assert response.status_code == 503
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.json()["code"] == "took_too_long"


def test_what_catches_the_end_is_ended_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compute_limit, "GRACE_SECONDS", 0.3)
    assert client.get("/swallow/").status_code == 503


def test_waiting_is_not_computing(client: Client) -> None:
    response = client.get("/wait/")
    assert (response.status_code, response.content) == (200, b"waited")


def test_a_query_without_end_is_ended(client: Client) -> None:
    assert client.get("/query/").status_code == 503


def test_the_thread_serves_the_next_request(client: Client) -> None:
    for _ in range(3):
        assert client.get("/spin/").status_code == 503
        assert client.get("/wait/").status_code == 200


class TellingLock:
    """Tells a request to end just as it is over: when its thread has or leaves the lock."""

    def __init__(self, computing: compute_limit._Computing, *, on_leaving: bool) -> None:
        self.computing = computing
        self.on_leaving = on_leaving
        self.times = 0

    def __enter__(self) -> None:
        self.times += 1
        if self.times == 1 and not self.on_leaving:
            self.computing.end_if_late()

    def __exit__(self, *_: object) -> None:
        if self.times == 1 and self.on_leaving:
            self.computing.end_if_late()


@pytest.mark.parametrize("on_leaving", [False, True])
def test_an_end_that_comes_too_late_ends_nothing_else(on_leaving: bool) -> None:
    watch = compute_limit._Watch()
    computing = compute_limit._Computing(limit_seconds=-1.0)
    watch.begin(computing)
    lock = TellingLock(computing, on_leaving=on_leaving)
    watch._lock = lock  # type: ignore[assignment]
    watch.finish(computing)
    assert lock.times == 2
    assert not watch._computing


def test_a_request_that_was_never_finished_is_watched_no_more() -> None:
    """Its end came after its work and before `finish` had begun: it must not end others."""
    watch = compute_limit._Watch()
    watch.begin(compute_limit._Computing(limit_seconds=1000.0))
    following = compute_limit._Computing(limit_seconds=1000.0)
    watch.begin(following)
    assert list(watch._computing.values()) == [following]
