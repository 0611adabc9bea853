"""The OpenAPI description: generated from the code, checked in, and arranged for reading."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import yaml
from drf_spectacular.generators import SchemaGenerator

from . import extensions as _extensions  # noqa: F401  registers them
from .completion import METHODS

CHECKED_IN = Path(__file__).resolve().parent / "openapi.yaml"


@functools.cache
def page() -> dict[str, Any]:
    """Return the context of the documentation page; cached, since it takes a while."""
    return readable(generate())


def generate() -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of the API as it is in the code."""
    document: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return document


def to_yaml(document: dict[str, Any]) -> str:
    return str(yaml.safe_dump(document, sort_keys=True, allow_unicode=True, width=100))


def readable(document: dict[str, Any]) -> dict[str, Any]:
    """Return the documentation page's content: operations by tag, then the schemas."""
    tags: dict[str, list[dict[str, Any]]] = {}
    for path, item in document["paths"].items():
        for method in METHODS:
            if operation := item.get(method):
                tag = operation.get("tags", ["other"])[0]
                tags.setdefault(tag, []).append(_operation(path, method, operation))
    schemas = document.get("components", {}).get("schemas", {})
    return {
        "title": document["info"]["title"],
        "version": document["info"]["version"],
        "tags": [{"name": name, "operations": found} for name, found in tags.items()],
        "schemas": [
            {
                "name": name,
                "description": schema.get("description", ""),
                "values": schema.get("enum", []),
                "fields": _fields(schema),
            }
            for name, schema in sorted(schemas.items())
        ],
    }


def _operation(path: str, method: str, operation: dict[str, Any]) -> dict[str, Any]:
    body = operation.get("requestBody", {}).get("content", {})
    return {
        "id": operation["operationId"],
        "path": path,
        "method": method.upper(),
        "summary": operation.get("summary", ""),
        "description": operation.get("description", ""),
        "auth": sorted({name for need in operation.get("security", []) for name in need}),
        "parameters": [
            {
                "name": parameter["name"],
                "place": parameter["in"],
                "type": _limited(parameter.get("schema", {})),
                "required": parameter.get("required", False),
                "description": parameter.get("description", ""),
            }
            for parameter in operation.get("parameters", [])
        ],
        "bodies": [
            {
                "media": media,
                "type": _type(content.get("schema", {})),
                "example": _written(content.get("example")),
            }
            for media, content in body.items()
        ],
        "responses": [_response(status, answer) for status, answer in _sorted(operation)],
    }


def _sorted(operation: dict[str, Any]) -> list[tuple[str, Any]]:
    return sorted((str(status), answer) for status, answer in operation["responses"].items())


def _response(status: str, answer: dict[str, Any]) -> dict[str, str]:
    types = [_type(content.get("schema", {})) for content in answer.get("content", {}).values()]
    return {
        "status": status,
        "description": answer.get("description", ""),
        "type": " or ".join(dict.fromkeys(types)),
    }


def _fields(schema: dict[str, Any]) -> list[dict[str, Any]]:
    required = set(schema.get("required", []))
    return [
        {
            "name": name,
            "type": _type(field),
            "required": name in required,
            "description": field.get("description", "") if isinstance(field, dict) else "",
        }
        for name, field in schema.get("properties", {}).items()
    ]


def _written(example: Any) -> str:
    return "" if example is None else json.dumps(example, ensure_ascii=False, indent=2)


def _limited(schema: dict[str, Any]) -> str:
    """Return a parameter's type with its limits and its default."""
    words = [_type(schema)]
    if "minimum" in schema and "maximum" in schema:
        words.append(f"{schema['minimum']} to {schema['maximum']}")
    if "maxLength" in schema:
        words.append(f"at most {schema['maxLength']} characters")
    if "default" in schema:
        words.append(f"{schema['default']} if not given")
    return ", ".join(words)


def _type(schema: Any) -> str:
    """Describe a schema's type in a few words; names of schemas stay as they are."""
    if not isinstance(schema, dict) or not schema:
        return "any"
    if reference := schema.get("$ref"):
        return str(reference).rsplit("/", 1)[-1]
    for key, word in (("allOf", " and "), ("anyOf", " or "), ("oneOf", " or ")):
        if key in schema:
            return word.join(dict.fromkeys(_type(part) for part in schema[key]))
    if "enum" in schema:
        return " | ".join("null" if value is None else str(value) for value in schema["enum"])
    if "const" in schema:
        return str(schema["const"])
    kinds = schema.get("type", "any")
    words = [kinds] if isinstance(kinds, str) else list(kinds)
    if "array" in words:
        words[words.index("array")] = f"list of {_type(schema.get('items', {}))}"
    if "format" in schema:
        words[0] = f"{words[0]} ({schema['format']})"
    return " or ".join(str(word) for word in words)
