"""The description of the API: up to date, readable, and true."""

from __future__ import annotations

import base64
import copy
import functools
import re
from io import StringIO
from typing import Any

import pytest
import schemathesis
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.test import Client
from django.urls import get_resolver
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis_settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from grader import services
from grader.api import schema
from grader.models import Exercise, Submission, WorkerNode
from grader.tests.messages import verdict, worker
from tests.tiers import examples

CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]


@functools.cache
def described() -> dict[str, Any]:
    """Return the description, made once: it takes longer than most tests that read it."""
    return schema.generate()


def test_the_checked_in_schema_is_the_codes() -> None:
    call_command("write_api_schema", "--check", stdout=StringIO())


def test_drift_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "generate", lambda: {"openapi": "3.1.0"})
    with pytest.raises(CommandError, match="write_api_schema"):
        call_command("write_api_schema", "--check")


def test_every_address_is_described() -> None:
    paths = described()["paths"]
    for pattern in get_resolver("grader.api.urls").url_patterns:
        path = re.sub(r"<\w+:(\w+)>", r"{\1}", str(pattern.pattern))
        if path not in ("schema/", "docs/"):
            assert f"/api/v1/{path}" in paths


@pytest.mark.django_db
def test_the_docs_are_a_page_without_inline_script_that_names_every_call(client: Client) -> None:
    response = client.get("/api/v1/docs/")
    assert response.status_code == 200
    text = response.content.decode()
    assert not re.search(r"<script(?![^>]* src=)", text)
    assert "style=" not in text
    for path in described()["paths"]:
        assert path in text
    assert "integer, 1 to 200, 50 if not given" in text
    assert "&quot;reason&quot;: &quot;The idea is right.&quot;" in text
    for anchor in re.findall(r'href="#([\w-]+)"', text):
        assert f'id="{anchor}"' in text


@pytest.mark.django_db
@pytest.mark.parametrize("accept", ["application/json", "application/yaml", "*/*"])
def test_the_schema_is_served(client: Client, accept: str) -> None:
    response = client.get("/api/v1/schema/", headers={"Accept": accept})
    assert response.status_code == 200
    assert b"openapi" in response.content


@pytest.fixture
def world(learner: User, grader: User, exercise: Exercise) -> dict[str, str]:
    """Something of everything, and the ids under which it is found."""
    from django.utils import timezone

    submission = services.submit(learner, exercise, "numpy", "x = 1")
    worker.record_verdict(verdict(submission, "wrong_answer"))
    services.submit(learner, exercise, "numpy", "x = 2")
    WorkerNode.objects.create(
        name="n", queue="cpu", tracks=["numpy"], devices=[], last_seen_at=timezone.now()
    )
    password = base64.b64encode(b"grader:grader-password").decode()
    _, token = services.create_token(grader, "schemathesis", ["read", "submit", "grade"])
    return {
        "public_id": submission.public_id,
        "slug": exercise.slug,
        "token": f"Token {token}",
        "password": f"Basic {password}",
    }


def operations() -> list[Any]:
    """Every operation with requests that fit; those with a body also with some that do not."""
    found = []
    for path, item in described()["paths"].items():
        for method in (name for name in schema.METHODS if name in item):
            for mode in GenerationMode:
                if mode is GenerationMode.POSITIVE or "requestBody" in item[method]:
                    found.append(pytest.param(path, method, mode, id=f"{path}-{method}-{mode}"))
    return found


@pytest.mark.django_db
@pytest.mark.parametrize(("path", "method", "mode"), operations())
def test_generated_requests_get_described_answers(
    world: dict[str, str],
    mode: GenerationMode,
    path: str,
    method: str,
    settings: Any,
    request: pytest.FixtureRequest,
) -> None:
    """No status, type or shape of answer that the schema does not have, and never a 5xx."""
    _lift_limits(settings)
    operation = described_operation(path, method, request)
    seen: set[int] = set()

    @_bounded(10)
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Any) -> None:
        for name in case.path_parameters or {}:
            case.path_parameters[name] = world[name]
        credentials = world["password"] if "/tokens/" in path else world["token"]
        response = case.call(headers=_headers(credentials))
        seen.add(response.status_code)
        assert response.status_code < 500
        case.validate_response(response, checks=CHECKS)

    check()
    assert seen


def described_operation(path: str, method: str, request: pytest.FixtureRequest) -> Any:
    """Return an operation of the description, of the site in this process and transaction."""
    # As Django's own test client does: the test's transaction outlives each request.
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    request.addfinalizer(_reconnect)
    description = schemathesis.openapi.from_dict(copy.deepcopy(described()))
    description.app = get_wsgi_application()
    return description[path][method.upper()]


def _headers(credentials: str) -> dict[str, str]:
    return {"Authorization": credentials, "Accept-Encoding": "identity"}


LISTS = ("submissions/", "regrades/", "regrades/{public_id}/items/")


@pytest.mark.django_db
@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize("path", LISTS)
def test_generated_filters_are_taken_or_refused(
    world: dict[str, str],
    grader: User,
    mode: GenerationMode,
    path: str,
    request: pytest.FixtureRequest,
) -> None:
    """What fits the description is answered with a page, anything else as it says."""
    run = services.start_regrade(grader, Submission.objects.all(), {"exercise": "rmsnorm"})
    known = {"exercise": world["slug"], "learner": "learner"}
    path = f"/api/v1/{path}"
    declared = {
        each["name"]
        for each in described()["paths"][path]["get"]["parameters"]
        if each["in"] == "query"
    }
    operation = described_operation(path, "get", request)
    fits = mode is GenerationMode.POSITIVE
    taken: set[str] = set()
    refused: set[str] = set()

    @_bounded(60)
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Any) -> None:
        case.path_parameters = dict.fromkeys(case.path_parameters or {}, run.public_id)
        query = case.query = dict(case.query or {})
        if fits:
            # Any text fits, and these stand for what there is; a cursor is the list's own.
            query.update({name: value for name, value in known.items() if name in query})
            query.pop("cursor", None)
        response = case.call(headers=_headers(world["token"]))
        case.validate_response(response, checks=CHECKS)
        if response.status_code == 200:
            taken.update(query)
        else:
            assert (response.status_code, fits) == (400, False)
            refused.update(response.json()["errors"])

    check()
    if fits:
        assert taken == declared - {"cursor"}
    else:
        assert refused & declared


def _reconnect() -> None:
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def _bounded(most: int) -> Any:
    return hypothesis_settings(
        max_examples=examples(most),
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def _lift_limits(django_settings: Any) -> None:
    django_settings.GRADING = {
        **django_settings.GRADING,
        "MAX_OPEN_SUBMISSIONS_PER_LEARNER": 10_000,
        "SUBMISSIONS_PER_MINUTE": 10_000,
    }
