"""OpenAPI descriptions of single calls, beyond what the framework infers."""

from __future__ import annotations

import inspect
from typing import Any

from drf_spectacular.openapi import AutoSchema

from .fields import StrictSerializer

# Limits of a filter's form field -> the schema's keywords.
_LIMITS = {"max_length": "maxLength", "min_value": "minimum", "max_value": "maximum"}
_TRUTH = {"true", "false"}


class ApiSchema(AutoSchema):
    """Describes lists as lists, filters with their limits, and bodies that refuse unknown fields.

    Public descriptions are the arguments of `extend_schema`, and a serializer's own docstring.
    Docstrings of base classes and views are for programmers.
    """

    def get_description(self) -> str:  # type: ignore[override]  # as drf-spectacular has it
        return ""

    def map_parsers(self) -> list[str]:
        # A form has only texts; it is declared where a file is accepted.
        return ["application/json"]

    def _is_list_view(self, serializer: Any = None) -> bool:
        answers = self.get_response_serializers() if serializer is None else serializer
        if isinstance(answers, dict):
            # The framework takes the smallest key as text, which is a problem's, in brackets.
            answers = answers.get(200)
        return answers is not None and bool(super()._is_list_view(answers))

    def _get_filter_parameters(self) -> list[dict[str, Any]]:
        parameters: list[dict[str, Any]] = super()._get_filter_parameters()
        filters = getattr(getattr(self.view, "filterset_class", None), "base_filters", {})
        for parameter in parameters:
            found = filters[parameter["name"]]
            parameter["schema"] = _schema_of(parameter["schema"], found.extra)
            if found.extra.get("help_text"):
                parameter["description"] = found.extra["help_text"]
        return parameters

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> dict[str, Any]:
        schema: dict[str, Any] = super()._map_basic_serializer(serializer, direction)
        schema.pop("description", None)
        if own := type(serializer).__doc__:
            schema["description"] = inspect.cleandoc(own)
        # Not for responses: later releases may add fields.
        if isinstance(serializer, StrictSerializer) and direction == "request":
            schema["additionalProperties"] = False
        return schema


def _schema_of(found: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    """Return a filter's schema: a value that may be given, so never null, within its limits."""
    choices = [choice for choice, _ in extra.get("choices", ())]
    if set(choices) == _TRUTH:
        return {"type": "boolean"}
    schema = {**found, **{word: extra[name] for name, word in _LIMITS.items() if name in extra}}
    if choices:
        schema = {"type": "string", "enum": choices}
    return schema
