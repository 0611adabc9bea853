"""Additions to the OpenAPI document: headers, examples, descriptions of success."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

EXAMPLES = Path(__file__).resolve().parent / "examples.yaml"
METHODS = ("get", "post", "put", "patch", "delete")
_HEADERS: dict[str, dict[str, Any]] = {
    "ETag": {
        "description": "The state that the answer shows. It may be sent as it is in `If-Match` and "
        "`If-None-Match`.",
        "schema": {"type": "string"},
    },
    "Location": {
        "description": "Where to ask what became of it.",
        "schema": {"type": "string", "format": "uri"},
    },
    "Retry-After": {
        "description": "After how many seconds to ask again.",
        "schema": {"type": "integer", "minimum": 1},
    },
    "WWW-Authenticate": {
        "description": "What credentials are taken here.",
        "schema": {"type": "string"},
    },
}
_SUCCESS = {
    "200": "It is as asked.",
    "201": "It is made.",
    "202": "It is taken; the rest follows.",
    "204": "It is done; there is no body.",
}
_WITH_LOCATION = ("exercises_submit", "runs_create")
_WITH_ETAG = "#/components/schemas/Submission"


def complete(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add what no view declares; drf-spectacular calls it last (`POSTPROCESSING_HOOKS`)."""
    examples = _examples()
    headers = result["components"].setdefault("headers", {})
    headers.update(copy.deepcopy(_HEADERS))
    for operation in operations(result):
        call = examples["calls"].get(operation["operationId"], {})
        for parameter in operation.get("parameters", ()):
            if (value := examples["parameters"].get(parameter["name"])) is not None:
                parameter["example"] = value
        body = operation.get("requestBody", {}).get("content", {})
        if "application/json" in body and "request" in call:
            body["application/json"]["example"] = call["request"]
        for status, answer in operation["responses"].items():
            _complete_answer(operation["operationId"], status, answer, call)
    return result


def operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every operation of the document."""
    for item in document["paths"].values():
        yield from (item[method] for method in METHODS if method in item)


def _complete_answer(name: str, status: str, answer: dict[str, Any], call: dict[str, Any]) -> None:
    content = answer.get("content", {})
    is_success = status.startswith("2")
    if is_success:
        answer["description"] = answer.get("description") or _SUCCESS[status]
        if "response" in call:
            for media in content.values():
                media["example"] = call["response"]
    shown = [media.get("schema", {}).get("$ref") for media in content.values()]
    wanted = {
        "ETag": status == "304" or (is_success and _WITH_ETAG in shown),
        "Location": status == "202" and name in _WITH_LOCATION,
        "Retry-After": status == "429",
        "WWW-Authenticate": status == "401",
    }
    if names := [header for header, is_wanted in wanted.items() if is_wanted]:
        answer["headers"] = {each: {"$ref": f"#/components/headers/{each}"} for each in names}


@cache
def _examples() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(EXAMPLES.read_text())
    return read
