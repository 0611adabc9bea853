"""Log lines: time, level, request and submission ids; across queues too."""

from __future__ import annotations

import io
import json
import logging
import logging.config
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest
from celery import Celery, shared_task
from django.contrib.auth.models import User
from django.core.signals import request_finished
from django.test import Client
from structlog.contextvars import clear_contextvars, get_contextvars

from gpu_worker import logs
from gpu_worker.messages.queues import celery_settings
from grader import services
from grader.models import AuditEntry, Exercise, OutboxMessage
from learnml.environment import read
from learnml.supervisor.output import Output

Write = Callable[[str], tuple[logging.Logger, io.StringIO]]


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    clear_contextvars()
    yield
    clear_contextvars()


@pytest.fixture
def write(monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Return a logger of its own that writes in a format, and where to."""
    logger = logging.getLogger("learnml.tests.lines")

    def make(form: str) -> tuple[logging.Logger, io.StringIO]:
        monkeypatch.setenv("LEARNML_LOG_FORMAT", form)
        configuration = logs.configuration()["formatters"]["learnml"]["()"]
        stream = io.StringIO()
        handler = logging.StreamHandler(stream)
        handler.setFormatter(configuration())
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(logging.INFO)
        return logger, stream

    yield make
    logger.handlers.clear()
    logger.propagate = True


class TestLines:
    def test_for_people(self, write: Write) -> None:
        logger, stream = write("plain")
        with logs.about(request_id="abc-1", submission="rrym8kzpq65f93nx"):
            logger.warning("It waits for %s.", "you")
        logger.info("Nothing more.")
        first, second = stream.getvalue().splitlines()
        time, _, rest = first.partition(" ")
        assert datetime.fromisoformat(time).tzinfo is not None
        assert rest == (
            "WARNING learnml.tests.lines: It waits for you. "
            "[request_id=abc-1 submission=rrym8kzpq65f93nx]"
        )
        assert second.endswith("INFO learnml.tests.lines: Nothing more.")

    def test_for_programs(self, write: Write) -> None:
        logger, stream = write("json")
        with logs.about(request_id="abc-1", submission="rrym8kzpq65f93nx"):
            try:
                raise ValueError("broken “here”")
            except ValueError:
                logger.exception("It failed:\n%s", {"a": 1})
        (line,) = stream.getvalue().splitlines()
        told = json.loads(line)
        assert datetime.fromisoformat(told.pop("time")).tzinfo is not None
        assert told.pop("exception").startswith("Traceback (most recent call last):")
        assert told == {
            "level": "error",
            "logger": "learnml.tests.lines",
            "message": "It failed:\n{'a': 1}",
            "request_id": "abc-1",
            "submission": "rrym8kzpq65f93nx",
        }

    def test_nobodys_text_looks_like_a_line(self, write: Write) -> None:
        logger, stream = write("plain")
        logger.info("Not found: %s", "/a\n2026-11-30T14:00:00Z ERROR x\r\x1b[2J\u2028end")
        first, second = stream.getvalue().split("\n")[:2]
        assert first.endswith("Not found: /a")
        assert second == "    2026-11-30T14:00:00Z ERROR x\\r\\x1b[2J\\u2028end"

    def test_what_could_be_no_id_is_left_out(self) -> None:
        with logs.about(request_id="a b", submission="x" * 65, run="ok"):
            assert get_contextvars() == {"run": "ok"}

    def test_the_format_is_checked_at_the_start(self) -> None:
        assert read("LEARNML_LOG_FORMAT", "", {"LEARNML_LOG_FORMAT": "JSON"}) == "json"


@pytest.mark.django_db
class TestRequests:
    @pytest.fixture(autouse=True)
    def unfinished(self) -> Iterator[None]:
        """Let what is known stay until a test has seen it."""
        yield
        request_finished.send(sender=None)

    def test_each_has_an_id_of_its_own(self, client: Client) -> None:
        ids = [client.get("/healthz")["X-Request-ID"] for _ in range(2)]
        assert all(logs.is_sound(each) for each in ids)
        assert ids[0] != ids[1]
        assert get_contextvars() == {}

    @pytest.mark.parametrize(
        ("behind_proxy", "sent", "is_taken"),
        [
            (True, "from-the-proxy.1", True),
            (False, "from-anybody", False),
            (True, "two words", False),
            (True, "x" * 65, False),
            (True, "", False),
        ],
    )
    def test_a_proxys_is_taken_and_nobody_elses(
        self, client: Client, settings: Any, behind_proxy: bool, sent: str, is_taken: bool
    ) -> None:
        settings.REQUEST_ID_FROM_PROXY = behind_proxy
        answer = client.get("/healthz", headers={"X-Request-ID": sent})
        assert (answer["X-Request-ID"] == sent) is is_taken

    def test_lines_of_a_refused_request_have_it(self, client: Client, write: Write) -> None:
        _, stream = write("json")
        logger = logging.getLogger("django.request")
        handler = logging.getLogger("learnml.tests.lines").handlers[0]
        logger.addHandler(handler)
        try:
            answer = client.get("/submissions/rrym8kzpq65f93nx/source")
            missing = client.get("/nothing-here/")
        finally:
            logger.removeHandler(handler)
        assert answer.status_code in (302, 404)
        told = [json.loads(line) for line in stream.getvalue().splitlines()]
        assert told[-1]["request_id"] == missing["X-Request-ID"]
        assert "submission" not in told[-1]

    def test_the_audit_has_it(self, client: Client) -> None:
        User.objects.create_user("lea", password="lea-password")
        answer = client.post("/accounts/login/", {"login": "lea", "password": "lea-password"})
        entry = AuditEntry.objects.get(action="account.signed_in")
        assert entry.request_id == answer["X-Request-ID"]


@shared_task(name="learnml.tests.seen")
def seen() -> dict[str, Any]:
    return dict(get_contextvars())


class TestMessages:
    @pytest.fixture
    def app(self) -> Iterator[Celery]:
        app = Celery("lines", set_as_current=False)
        app.config_from_object({**celery_settings("memory://"), "broker_transport_options": {}})
        logs.follow_messages()
        yield app
        app.close()

    def test_carry_what_they_are_about(self, app: Celery) -> None:
        with logs.about(request_id="abc-1", submission="rrym8kzpq65f93nx"):
            app.send_task("gpu_worker.grade", args=[{}], queue="cpu")
        app.send_task("gpu_worker.grade", args=[{}], queue="cpu")
        with app.connection_for_read() as connection, connection.SimpleQueue("cpu") as queue:
            first, second = queue.get(timeout=180), queue.get(timeout=180)
        assert first.headers["learnml_request_id"] == "abc-1"
        assert first.headers["learnml_submission"] == "rrym8kzpq65f93nx"
        assert "learnml_run" not in first.headers
        assert not [name for name in second.headers if name.startswith("learnml_")]

    def test_tasks_know_it_and_forget_it(self) -> None:
        logs.follow_messages()
        headers = {"learnml_request_id": "abc-1", "learnml_submission": "forged\nline"}
        assert seen.apply(headers=headers).get() == {"request_id": "abc-1"}
        assert get_contextvars() == {}
        assert seen.apply().get() == {}

    def test_threads_know_it_too(self) -> None:
        found: list[str] = []
        with logs.about(submission="rrym8kzpq65f93nx"):
            look = logs.in_this_context(lambda: found.append(logs.current(logs.SUBMISSION)))
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        assert found == ["rrym8kzpq65f93nx"]


@pytest.mark.django_db
def test_an_attempt_that_no_request_asks_for_goes_back_to_the_first_ones() -> None:
    """A job is sent later, by the scheduler, and once more when a worker is lost."""
    learner = User.objects.create_user("lea")
    exercise = Exercise.objects.create(slug="rmsnorm", title="RMSNorm", is_published=True)
    with logs.about(request_id="abc-1"):
        submission = services.submit(learner, exercise, "numpy", "x = 1")
    attempt = submission.attempts.get()
    attempt.delete()
    assert OutboxMessage.objects.count() == 0
    with logs.about(request_id="abc-2"):
        services.attempts.start_attempt(submission, submission.kind, priority=0)
    services.reaper.end_attempt(submission.attempts.get(), "worker lost")
    ids = OutboxMessage.objects.order_by("id").values_list("request_id", flat=True)
    assert list(ids) == ["abc-2", "abc-2"]


class TestOutput:
    """The lines of all parts in one terminal."""

    def test_each_is_an_object_that_names_its_part(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LEARNML_LOG_FORMAT", "json")
        stream = io.StringIO()
        output = Output(stream)
        output.part("web", '{"level": "warning", "message": "m"}\n')
        output.part("queue", "1:M 30 Nov 2026 * Ready to accept connections")
        output.part("web", '{"broken')
        output.say("LearnML is ready")
        output.say()
        told = [json.loads(line) for line in stream.getvalue().splitlines()]
        assert [each["part"] for each in told] == ["web", "queue", "web", "supervisor"]
        assert told[0] == {"level": "warning", "message": "m", "part": "web"}
        assert told[1]["message"] == "1:M 30 Nov 2026 * Ready to accept connections"
        assert told[2]["message"] == '{"broken'
        assert all({"level", "message"} <= set(each) for each in told)

    def test_people_read_prefixes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("LEARNML_LOG_FORMAT", raising=False)
        stream = io.StringIO()
        Output(stream).part("web", "a line\n")
        assert stream.getvalue() == "web       | a line\n"
