"""The OpenAPI document describes all of the API, and nothing internal."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import URLPattern, get_resolver
from jsonschema import Draft202012Validator

from grader.api.completion import METHODS, operations
from grader.api.filters import SubmissionFilter
from grader.api.pagination import PAGING
from grader.api.views.submissions import SubmissionsView
from grader.models.ids import ALPHABET
from grader.tests.test_api_schema import described

# What descriptions put into backticks that is a name neither of the document nor of HTTP.
WORDS = {"left:right", "Retry-After", "If-Match", "If-None-Match", "ETag", "self", "W/", "*"}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return copy.deepcopy(described())


def parts(value: Any, path: str = "") -> Iterator[tuple[str, str, Any]]:
    """Yield path, key and value of everything in the document but its examples."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in pairs:
        yield path, str(key), each
        if key != "example" and isinstance(each, dict | list):
            yield from parts(each, f"{path}/{key}")


def views() -> Iterator[tuple[str, Any]]:
    for pattern in get_resolver("grader.api.urls").url_patterns:
        assert isinstance(pattern, URLPattern)
        path = re.sub(r"<\w+:(\w+)>", r"{\1}", str(pattern.pattern))
        if (view := getattr(pattern.callback, "view_class", None)) and path != "schema/":
            yield f"/api/v1/{path}", view


def parameters_of(operation: dict[str, Any], place: str) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in operation.get("parameters", ()) if each["in"] == place}


def test_each_address_declares_what_it_takes_and_no_more(document: dict[str, Any]) -> None:
    lists = 0
    for path, view in views():
        for method in (name for name in METHODS if name in document["paths"][path]):
            found = parameters_of(document["paths"][path][method], "query")
            wanted = view.query if method == "get" else frozenset()
            assert set(found) == wanted, f"{method} {path}"
            lists += wanted >= PAGING
    assert lists == 3


def test_parameters_have_types_limits_and_allowed_values(document: dict[str, Any]) -> None:
    for operation in operations(document):
        for parameter in operation.get("parameters", ()):
            assert parameter["schema"]["type"] in ("string", "number", "integer", "boolean")
            assert parameter.get("description") or parameter["in"] == "path"
    found = parameters_of(document["paths"]["/api/v1/submissions/"]["get"], "query")
    schemas = {name: parameter["schema"] for name, parameter in found.items()}
    assert set(schemas) == {*PAGING, *SubmissionFilter.base_filters}
    assert schemas["page_size"] == {"type": "integer", "minimum": 1, "maximum": 200, "default": 50}
    assert schemas["ordering"] == {
        "type": "string",
        "enum": list(SubmissionsView.orderings),
        "default": "-created_at",
    }
    assert schemas["track"] == {"type": "string", "enum": ["numpy", "cupy"]}
    assert schemas["state"]["enum"][:2] == ["queued", "claimed"]
    assert schemas["outcome"]["type"] == "string"
    assert "flagged" in schemas["outcome"]["enum"]
    assert schemas["late"] == {"type": "boolean"}
    for name in ("score_min", "score_max"):
        assert (schemas[name]["minimum"], schemas[name]["maximum"]) == (0, 1)
    for name in ("created_after", "created_before"):
        assert schemas[name] == {"type": "string", "format": "date-time"}
    assert (schemas["exercise"]["maxLength"], schemas["learner"]["maxLength"]) == (64, 150)
    path = parameters_of(document["paths"]["/api/v1/submissions/{public_id}/"]["get"], "path")
    pattern = path["public_id"]["schema"]["pattern"]
    every = {chr(code) for code in range(128) if re.match(pattern, chr(code) * 16)}
    assert every == set(ALPHABET)


def test_bodies_refuse_what_they_do_not_know(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    bodies = {
        media["schema"]["$ref"].rsplit("/", 1)[-1]
        for operation in operations(document)
        for media in operation.get("requestBody", {}).get("content", {}).values()
    }
    assert len(bodies) == 10
    for name in {*bodies, "RegradeFilterRequest"}:
        assert schemas[name]["additionalProperties"] is False, name
    assert "additionalProperties" not in schemas["Submission"]


def test_each_call_names_the_credentials_that_it_takes(document: dict[str, Any]) -> None:
    schemes = document["components"]["securitySchemes"]
    assert (schemes["password"]["type"], schemes["password"]["scheme"]) == ("http", "basic")
    for name, place, header in (
        ("token", "header", "Authorization"),
        ("session", "cookie", "sessionid"),
    ):
        scheme = schemes[name]
        assert (scheme["type"], scheme["in"], scheme["name"]) == ("apiKey", place, header)
    for path, view in views():
        for method in (name for name in METHODS if name in document["paths"][path]):
            found = document["paths"][path][method]["security"]
            first = "password" if "/tokens/" in path else "token"
            is_public = "AllowAny" in [each.__name__ for each in view.permission_classes]
            assert found == [{first: []}, {"session": []}, *([{}] if is_public else [])], path


def test_every_example_is_one(document: dict[str, Any]) -> None:
    """Each JSON body that is sent or given has one, and it fits its schema, as do parameters'."""
    checked = 0
    for operation in operations(document):
        answers = {s: a for s, a in operation["responses"].items() if s.startswith("2")}
        bodies = [operation.get("requestBody", {}), *answers.values()]
        for body in bodies:
            for media, content in body.get("content", {}).items():
                if media == "application/json":
                    assert "example" in content, operation["operationId"]
                if "example" in content:
                    check_against(document, content["schema"], content["example"])
                    checked += 1
        for parameter in operation.get("parameters", ()):
            if "example" in parameter:
                check_against(document, parameter["schema"], parameter["example"])
    assert checked >= 35


def check_against(document: dict[str, Any], schema: dict[str, Any], example: Any) -> None:
    whole = {**schema, "components": document["components"]}
    errors = list(Draft202012Validator(whole).iter_errors(example))
    assert errors == []
    # What an answer has beyond its schema would be a name that nobody gives.
    if isinstance(example, dict) and (name := schema.get("$ref")):
        known = document["components"]["schemas"][name.rsplit("/", 1)[-1]]["properties"]
        assert set(example) <= set(known)


def test_descriptions_are_for_the_public(document: dict[str, Any]) -> None:
    names = set(WORDS)
    for path, key, value in parts(document):
        if key == "properties":
            names |= set(value)
        elif key == "enum":
            names |= set(map(str, value))
        elif key == "name":
            names.add(str(value))
        elif path == "/paths":
            names |= {f"{word}/" for word in key.split("/")}
    texts = {
        f"{path}/{key}": value
        for path, key, value in parts(document)
        if key == "description" and isinstance(value, str)
    }
    assert len(texts) > 200
    for path, text in texts.items():
        assert text, path
        assert not re.search(
            r"\bNone\b(?!-Match)|Serializer|[Qq]ueryset|context\[|\bself\.", text
        ), path
        unknown = set(re.findall(r"`([^`]*)`", text)) - names
        assert not unknown, f"{path}: {unknown}"
        # What a base class says to programmers is no description of what is built on it.
        assert "misspelt" not in text
        assert "Bounds the body" not in text
    schemas = document["components"]["schemas"]
    assert not any("title" in schema for schema in schemas.values() if "properties" in schema)


def test_answers_tell_of_their_headers(document: dict[str, Any]) -> None:
    paths = document["paths"]
    submission = paths["/api/v1/submissions/{public_id}/"]["get"]["responses"]
    assert set(submission["200"]["headers"]) == set(submission["304"]["headers"]) == {"ETag"}
    put = paths["/api/v1/submissions/{public_id}/override/"]["put"]["responses"]
    assert set(put["200"]["headers"]) == {"ETag"}
    sent = paths["/api/v1/exercises/{slug}/submissions/"]["post"]["responses"]
    assert set(sent["202"]["headers"]) == {"ETag", "Location"}
    for operation in operations(document):
        assert set(operation["responses"]["429"]["headers"]) == {"Retry-After"}
        assert set(operation["responses"]["401"]["headers"]) == {"WWW-Authenticate"}
