"""The few REST calls that platform tests and benchmarks make."""

from __future__ import annotations

import base64
import json
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.platform.instance import DEMO_PASSWORD, PATIENCE_SECONDS, PROJECT, pause

FINAL_STATE = "finished"


def chapter_listing() -> str:
    """Return the chapter's own listing, which the NumPy track accepts."""
    (path,) = PROJECT.glob("courses/library/*/deep-neural-representations/math_neural_norm.py")
    return Path(path).read_text()


class Client:
    """Signs in with a password, goes on with a token."""

    def __init__(
        self,
        base_url: str,
        username: str,
        password: str = DEMO_PASSWORD,
        scopes: Sequence[str] = ("submit", "read"),
    ) -> None:
        self.base_url = base_url
        self._authorization = (
            "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()
        )
        created = self.call("POST", "tokens/", {"name": "platform", "scopes": list(scopes)})
        self._authorization = f"Token {created['token']}"

    def call(
        self, method: str, path: str, body: dict[str, Any] | None = None, **headers: str
    ) -> dict[str, Any]:
        """Make one call under /api/v1/ and return its JSON.

        Raises:
            AssertionError: the answer is an error; the text holds the problem document.
        """
        request = urllib.request.Request(  # noqa: S310  always the instance under test
            f"{self.base_url}/api/v1/{path}",
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={
                "Authorization": self._authorization,
                "Content-Type": "application/json",
                **headers,
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
                data = json.load(answer)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read()!r}") from error
        assert isinstance(data, dict)
        return data

    def submit(
        self, source: str, exercise: str = "rmsnorm", track: str = "numpy", key: str | None = None
    ) -> str:
        """Submit and return the submission's id; with a `key`, repeating is harmless."""
        body = {"track": track, "source": source}
        headers = {} if key is None else {"Idempotency-Key": key}
        return str(self.call("POST", f"exercises/{exercise}/submissions/", body, **headers)["id"])

    def verdict(self, submission: str, seconds: float = PATIENCE_SECONDS) -> dict[str, Any]:
        """Wait for the final state, and for the names of mistakes; return the submission."""
        begun = time.monotonic()
        while time.monotonic() < begun + seconds:
            data = self.call("GET", f"submissions/{submission}/")
            if data["state"] == FINAL_STATE and not (data["report"] or {}).get("naming"):
                return data
            pause(begun, least_seconds=0.02)
        raise AssertionError(f"no verdict within {seconds:g} s: {data}")
