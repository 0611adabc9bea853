"""A few lines of REST, as a teaching assistant's script would have them."""

from __future__ import annotations

import base64
import json
import time
import urllib.error
import urllib.request
from typing import Any

from tests.platform.instance import DEMO_PASSWORD, PATIENCE_SECONDS, pause


class Client:
    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.headers: dict[str, str] = {}

    def call(
        self, method: str, path: str, data: object = None, **headers: str
    ) -> tuple[int, dict[str, str], Any]:
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(  # noqa: S310
            self.base_url + path,
            data=body,
            method=method,
            headers={"Content-Type": "application/json", **self.headers, **headers},
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
                raw, status, got = answer.read(), answer.status, dict(answer.headers)
        except urllib.error.HTTPError as error:
            raw, status, got = error.read(), error.code, dict(error.headers)
        return status, got, json.loads(raw) if "json" in got.get("Content-Type", "") else raw

    def log_in(self, name: str, scopes: list[str]) -> None:
        basic = base64.b64encode(f"{name}:{DEMO_PASSWORD}".encode()).decode()
        status, _, token = self.call(
            "POST",
            "/api/v1/tokens/",
            {"name": "laptop", "scopes": scopes},
            Authorization=f"Basic {basic}",
        )
        assert status == 201, token
        assert set(token) >= {"id", "token", "scopes", "expires_at"}
        self.headers = {"Authorization": f"Token {token['token']}"}


def wait_until_finished(client: Client, path: str) -> dict[str, Any]:
    begun = time.monotonic()
    while time.monotonic() < begun + PATIENCE_SECONDS:
        status, _, detail = client.call("GET", path)
        assert status == 200
        if detail["state"] == "finished":
            return dict(detail)
        pause(begun, least_seconds=0.1)
    raise AssertionError(f"the submission was not graded within {PATIENCE_SECONDS:g} s")
