"""What the site adds to every answer: errors, compression, policies; and its cache and queue."""

from __future__ import annotations

import gzip
import logging
import re
import subprocess
import sys
import time
from collections.abc import Iterator

import brotli
import django.core.cache
import pytest
from django.contrib.auth.models import AbstractUser
from django.core.cache import CacheHandler
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.test import Client, RequestFactory
from pytest_django.fixtures import Settings

from gpu_worker.messages.queues import celery_settings
from learnml.cache import TolerantRedisCache
from learnml.celery import app, beat_schedule
from learnml.middleware.responses import CompressionMiddleware
from tests.platform.instance import PATIENCE_SECONDS, PROJECT


# --- errors ---------------------------------------------------------------------------------------
@pytest.mark.django_db
def test_unknown_api_address_is_a_problem_document(client: Client) -> None:
    response = client.get("/api/v1/nothing/")
    assert response.status_code == 404
    assert response.headers["Content-Type"] == "application/problem+json"
    body = response.json()
    assert (body["status"], body["title"]) == (404, "Not Found")
    assert (body["code"], body["type"]) == ("not_found", "urn:learnml:problem:not_found")
    assert "/api/v1/docs/" in body["detail"]


@pytest.mark.django_db
def test_unknown_page_is_a_page(client: Client) -> None:
    response = client.get("/nothing/")
    assert response.status_code == 404
    assert response.headers["Content-Type"].startswith("text/html")
    assert "<h1" in response.content.decode()


@pytest.mark.parametrize(("path", "kind"), [("/api/v1/x/", "problem+json"), ("/x/", "html")])
def test_server_error_is_said_in_the_form_that_was_asked_for(
    client: Client, path: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(*args: object, **kwargs: object) -> None:
        raise RuntimeError("a secret of the server")

    monkeypatch.setattr("django.urls.resolvers.URLResolver.resolve", break_down)
    client.raise_request_exception = False
    response = client.get(path)
    assert response.status_code == 500
    assert kind in response.headers["Content-Type"]
    assert b"a secret" not in response.content


# --- every answer ---------------------------------------------------------------------------------
@pytest.mark.django_db
def test_pages_carry_the_policy_and_no_inline_permission(client: Client) -> None:
    policy = client.get("/accounts/login/").headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.django_db
def test_pages_are_compressed_for_those_who_ask(client: Client) -> None:
    plain = client.get("/accounts/login/")
    packed = client.get("/accounts/login/", headers={"accept-encoding": "gzip"})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert len(packed.content) < len(plain.content)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("br", "br"),
        ("gzip, deflate, br, zstd", "br"),
        ("br;q=0.5, gzip", "gzip"),
        ("br;q=0, gzip;q=0.1", "gzip"),
        ("*", "br"),
        ("gzip;q=0", None),
        ("identity", None),
        ("br;q=x", None),
        ("", None),
    ],
)
def test_encoding_is_one_that_was_asked_for(
    client: Client, accepted: str, coding: str | None
) -> None:
    plain = client.get("/accounts/login/").content
    response = client.get("/accounts/login/", headers={"accept-encoding": accepted})
    assert response.headers.get("Content-Encoding") == coding
    assert "Accept-Encoding" in response.headers["Vary"]
    decode = {"br": brotli.decompress, "gzip": gzip.decompress, None: bytes}[coding]
    # The token of the form is masked anew in each page.
    page = decode(response.content)
    assert without_token(page) == without_token(plain)
    assert page != plain
    assert response.headers.get("Content-Length", len(response.content)) in (
        str(len(response.content)),
        len(response.content),
    )


def without_token(page: bytes) -> bytes:
    return re.sub(rb'name="csrfmiddlewaretoken" value="[^"]+"', b"", page)


def answered(response: HttpResponse, **headers: str) -> HttpResponseBase:
    request = RequestFactory().get("/", headers=headers)
    return CompressionMiddleware(lambda request: response)(request)


def test_compressed_page_has_a_weak_tag_and_a_length_that_varies() -> None:
    lengths = set()
    for _ in range(40):
        page = HttpResponse("page " * 200, headers={"ETag": '"tag"'})
        answer = answered(page, accept_encoding="br")
        assert answer.headers["ETag"] == 'W/"tag"'
        lengths.add(len(answer.headers["X-Padding"]))
    assert len(lengths) > 10
    assert max(lengths) <= 100


def test_small_and_encoded_answers_are_left_alone() -> None:
    assert "Content-Encoding" not in answered(HttpResponse("short"), accept_encoding="br").headers
    packed = HttpResponse(b"x" * 500, headers={"Content-Encoding": "zstd", "ETag": '"tag"'})
    answer = answered(packed, accept_encoding="br")
    assert (answer.headers["Content-Encoding"], answer.headers["ETag"]) == ("zstd", '"tag"')


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/accounts/login/", "/healthz", "/nothing/", "/api/v1/nothing/"])
def test_head_has_the_headers_of_get_and_no_body(path: str) -> None:
    """Asked as a server asks: the test client would drop the body itself."""
    headers: dict[str, str] = {}

    def start(status: str, given: list[tuple[str, str]]) -> None:
        headers.update(given)

    environ = RequestFactory().head(path).environ
    response = get_wsgi_application()(environ, start)
    assert b"".join(response) == b""
    assert int(headers["Content-Length"]) > 0


# --- log ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("logger", "status", "lines"),
    [
        ("django.request", 403, 1),
        ("django.security.DisallowedHost", 400, 1),
        ("django.request", 500, 2),
        ("courses.publishing", None, 2),
    ],
)
def test_log_has_a_traceback_for_defects_alone(logger: str, status: int | None, lines: int) -> None:
    (handler,) = [h for h in logging.getLogger().handlers if type(h) is logging.StreamHandler]
    try:
        raise ValueError("the reason")
    except ValueError:
        record = logging.getLogger(logger).makeRecord(
            logger, logging.ERROR, "", 1, "It is refused.", (), sys.exc_info()
        )
    if status is not None:
        record.status_code = status
    assert handler.filter(record)
    assert min(2, len(handler.format(record).splitlines())) == lines


@pytest.mark.django_db
def test_admin_login_is_the_site_login_with_its_limits(client: Client) -> None:
    response = client.get("/admin/login/?next=/admin/")
    assert response.status_code == 302
    assert response.headers["Location"].startswith("/accounts/login/")


@pytest.mark.django_db
def test_wrong_guesses_elsewhere_keep_nobody_from_signing_in(
    client: Client, settings: Settings, django_user_model: type[AbstractUser]
) -> None:
    django.core.cache.cache.clear()
    settings.ACCOUNT_RATE_LIMITS = {}  # allauth's own, which the settings of the tests turn off
    django_user_model.objects.create_user("learner", password="the-right-password")

    def sign_in(password: str, address: str) -> bool:
        form = {"login": "learner", "password": password}
        response = client.post("/accounts/login/", form, REMOTE_ADDR=address)
        client.logout()
        return response.status_code == 302

    for _ in range(15):
        assert not sign_in("wrong", "10.0.0.66")
    assert not sign_in("the-right-password", "10.0.0.66"), "guessing is slowed down"
    assert sign_in("the-right-password", "10.0.0.7")


# --- cache ----------------------------------------------------------------------------------------
def redis_cache(settings: Settings, location: str) -> TolerantRedisCache:
    options = {"socket_connect_timeout": 1, "socket_timeout": 1}
    configuration = {
        "BACKEND": "learnml.cache.TolerantRedisCache",
        "LOCATION": location,
        "KEY_PREFIX": "learnml",
        "OPTIONS": options,
    }
    cache = CacheHandler({"default": configuration})["default"]
    assert isinstance(cache, TolerantRedisCache)
    return cache


@pytest.mark.services
def test_clearing_the_cache_leaves_the_queue_alone(settings: Settings, redis_server: str) -> None:
    import redis

    queue = redis.Redis.from_url(redis_server)
    queue.lpush("cpu", "a job")
    cache = redis_cache(settings, redis_server)
    cache.set("answer", 42)
    assert cache.get("answer") == 42
    cache.clear()
    assert cache.get("answer") is None
    assert queue.llen("cpu") == 1
    queue.delete("cpu")


def test_unreachable_cache_reads_as_empty_at_once(settings: Settings) -> None:
    cache = redis_cache(settings, "redis://127.0.0.1:1/0")
    started = time.monotonic()
    cache.set("answer", 42)
    assert cache.get("answer", "nothing") == "nothing"
    assert cache.get_many(["answer"]) == {}
    assert cache.add("answer", 1) is True
    cache.clear()
    assert time.monotonic() - started < PATIENCE_SECONDS


@pytest.mark.services
def test_hanging_cache_does_not_hang_pages(settings: Settings) -> None:
    """A server that accepts and never answers costs a second, not a worker."""
    import socket

    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        cache = redis_cache(settings, f"redis://127.0.0.1:{deaf.getsockname()[1]}/0")
        started = time.monotonic()
        assert cache.get("answer") is None
        assert time.monotonic() - started < PATIENCE_SECONDS


# --- queue ----------------------------------------------------------------------------------------
@pytest.fixture
def fresh_interpreter() -> Iterator[subprocess.CompletedProcess[str]]:
    code = (
        "import sys, learnml.celery;"
        "print('django.conf' in sys.modules and "
        "__import__('django.conf').conf.settings.configured)"
    )
    return subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True
    )


def test_celery_app_reads_no_settings_at_import(
    fresh_interpreter: subprocess.CompletedProcess[str],
) -> None:
    assert fresh_interpreter.stdout.strip() == "False"


def test_celery_app_uses_the_shared_settings(settings: Settings) -> None:
    own = {"worker_cancel_long_running_tasks_on_connection_loss", "broker_transport_options"}
    shared = celery_settings(settings.BROKER_URL)
    expected = {k: v for k, v in shared.items() if k not in own}
    assert {name: app.conf[name] for name in expected} == expected
    # Only the keys of what was taken and not acknowledged are the site's own.
    options = app.conf["broker_transport_options"]
    assert options.items() >= shared["broker_transport_options"].items()
    assert {name for name in options if name not in shared["broker_transport_options"]} == {
        "unacked_key",
        "unacked_index_key",
        "unacked_mutex_key",
    }


def test_lost_queue_ends_the_sites_tasks_without_a_lecture_in_the_log() -> None:
    """Celery prints a paragraph at each loss until this is decided."""
    assert app.conf.worker_cancel_long_running_tasks_on_connection_loss is True


def test_celery_app_is_the_current_one_in_every_thread() -> None:
    import threading

    from celery import current_app

    seen: list[str] = []
    thread = threading.Thread(target=lambda: seen.append(str(current_app.main)))
    thread.start()
    thread.join()
    assert seen == ["learnml"]


def test_scheduled_tasks_exist_and_cannot_pile_up(settings: Settings) -> None:
    app.loader.import_default_modules()
    schedule = beat_schedule(settings.GRADING)
    assert {entry["task"] for entry in schedule.values()} == {
        "grader.send_outbox",
        "grader.requeue_lost",
        "grader.advance_checks",
        "grader.end_runs",
        "grader.remove_work_of_deleted_accounts",
    }
    for entry in schedule.values():
        assert entry["task"] in app.tasks
        assert entry["options"]["expires"] >= entry["schedule"]
        assert entry["options"]["queue"] == "control"
