"""What the tests of the API share."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any, TypeAlias

from rest_framework.test import APIClient

from grader.models import Submission

Api: TypeAlias = Callable[..., APIClient]
Submit: TypeAlias = Callable[..., Submission]
ROOT = "/api/v1"


def basic(name: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}


def assert_problem(response: Any, status: int, code: str = "") -> dict[str, Any]:
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = json.loads(response.content)
    assert body["status"] == status
    assert {"type", "title", "status", "detail"} <= body.keys()
    assert body["detail"]
    if code:
        assert body["code"] == code
    return body
