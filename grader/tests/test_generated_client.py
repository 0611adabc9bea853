"""A client generated from the OpenAPI document can filter, paginate and write."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from openapi_python_client import Config, MetaType, generate
from openapi_python_client.config import ConfigFile

from grader import services
from grader.api.completion import operations
from grader.api.schema import CHECKED_IN
from grader.models import Exercise, Submission
from grader.tests.calls import Submit
from grader.tests.messages import verdict, worker
from grader.tests.test_api_schema import described

NAME = "learnml_client"


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Generate the client; nothing in the document may be beyond the generator."""
    folder = tmp_path_factory.mktemp("client")
    config = Config.from_sources(
        ConfigFile(package_name_override=NAME, post_hooks=[]),
        MetaType.NONE,
        document_source=CHECKED_IN,
        file_encoding="utf-8",
        overwrite=True,
        output_path=folder / NAME,
    )
    assert [f"{each.header}: {each.detail}" for each in generate(config=config)] == []
    sys.path.insert(0, str(folder))
    yield NAME
    sys.path.remove(str(folder))
    for module in [name for name in sys.modules if name.partition(".")[0] == NAME]:
        del sys.modules[module]


@contextmanager
def in_one_transaction() -> Iterator[None]:
    """Keep the test's connection open over requests, as Django's own test client does."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def client_of(generated: str) -> Iterator[Any]:
    package = importlib.import_module(generated)

    def make(user: User, *scopes: str) -> Any:
        _, token = services.create_token(user, "generated", scopes)
        return package.AuthenticatedClient(
            base_url="http://testserver",
            token=token,
            prefix="Token",
            raise_on_unexpected_status=True,
            httpx_args={"transport": httpx.WSGITransport(app=get_wsgi_application())},
        )

    with in_one_transaction():
        yield make


def test_every_call_is_generated(generated: str) -> None:
    package = importlib.import_module(f"{generated}.api")
    modules = {
        each.name.rpartition(".")[2]
        for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if not each.ispkg and importlib.import_module(each.name)
    }
    assert modules == {each["operationId"] for each in operations(described())}


def call(generated: str, name: str) -> Any:
    return importlib.import_module(f"{generated}.api.{name}")


def cursor_of(link: str) -> str:
    return parse_qs(urlsplit(link).query)["cursor"][0]


def test_it_filters_and_follows_three_pages(
    generated: str, client_of: Any, grader: User, learner: User, submit: Submit, settings: Any
) -> None:
    settings.GRADING = {**settings.GRADING, "MAX_OPEN_SUBMISSIONS_PER_LEARNER": 100}
    models = importlib.import_module(f"{generated}.models")
    wanted = []
    for number in range(7):
        submission = submit(f"x = {number}")
        outcome = "wrong_answer" if number < 5 else "accepted"
        worker.record_verdict(verdict(submission, outcome))
        wanted += [submission.public_id] if number < 5 else []
    listing = call(generated, "submissions.submissions_list")
    client = client_of(grader, "read", "grade")
    filters = {
        "exercise": "rmsnorm",
        "track": models.SubmissionsListTrack.NUMPY,
        "learner": learner.username,
        "state": models.SubmissionsListState.FINISHED,
        "outcome": models.SubmissionsListOutcome.WRONG_ANSWER,
        "score_max": 0.5,
        "created_after": datetime(2000, 1, 1, tzinfo=UTC),
        "late": False,
        "ordering": models.SubmissionsListOrdering.CREATED_AT,
        "page_size": 2,
    }
    found: list[str] = []
    sizes: list[int] = []
    page = listing.sync(client=client, **filters)
    while True:
        found += [each.id for each in page.results]
        sizes.append(len(page.results))
        if not page.next_:
            break
        page = listing.sync(client=client, **filters, cursor=cursor_of(page.next_))
    assert sizes == [2, 2, 1]
    assert found == wanted
    refused = listing.sync(client=client, exercise="no-such-exercise")
    assert isinstance(refused, models.Problem)
    assert "exercise" in refused.errors.additional_properties


def test_it_writes_with_the_tag_that_it_was_given(
    generated: str, client_of: Any, grader: User, submit: Submit, exercise: Exercise
) -> None:
    models = importlib.import_module(f"{generated}.models")
    submission = submit()
    worker.record_verdict(verdict(submission, "wrong_answer", score=0.25))
    client = client_of(grader, "read", "submit", "grade")
    read = call(generated, "submissions.submissions_retrieve")
    seen = read.sync_detailed(submission.public_id, client=client)
    assert (seen.parsed.score, seen.parsed.report.mistakes[0].id) == (0.25, "eps-outside")
    body = models.NewOverrideRequest(score=0.75, reason="The idea is right.")
    put = call(generated, "submissions.submissions_override")
    given = put.sync_detailed(
        submission.public_id, client=client, body=body, if_match=seen.headers["ETag"]
    )
    assert given.parsed.score == 0.75
    back = call(generated, "submissions.submissions_override_remove")
    removed = back.sync_detailed(
        submission.public_id, client=client, if_match=given.headers["ETag"]
    )
    assert (removed.parsed.score, removed.parsed.override) == (0.25, None)
    send = call(generated, "submissions.exercises_submit")
    source = models.NewSubmissionRequest(track="numpy", source="x = 1")
    sent = send.sync(exercise.slug, client=client, body=source)
    assert Submission.objects.get(public_id=sent.id).source == "x = 1"
