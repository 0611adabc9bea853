"""Extensions of drf-spectacular: our authentication, and the messages' own models."""

from __future__ import annotations

import re
from typing import Any

from django.conf import settings
from drf_spectacular.extensions import (
    OpenApiAuthenticationExtension,
    OpenApiSerializerExtension,
    OpenApiSerializerFieldExtension,
)
from drf_spectacular.plumbing import ResolvedComponent
from pydantic import BaseModel
from rest_framework.authentication import SessionAuthentication

from gpu_worker.messages.runs import RunReport

from .authentication import ApiTokenAuthentication, PasswordAuthentication
from .reports import Report, ReportField
from .runs import RunReportField

_NONE = re.compile(r"\bNone\b")
# One that ends no paragraph.
_LINE_END = re.compile(r"(?<!\n)\n(?!\n)")


class ApiTokenScheme(OpenApiAuthenticationExtension):
    target_class = ApiTokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "The word Token, a space and the token, as made at /api/v1/tokens/.",
        }


class PasswordScheme(OpenApiAuthenticationExtension):
    target_class = PasswordAuthentication
    name = "password"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "basic", "description": "User name and password."}


class SessionScheme(OpenApiAuthenticationExtension):
    target_class = SessionAuthentication
    name = "session"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": settings.SESSION_COOKIE_NAME,
            "description": "A browser that is signed in. What writes is taken from this site's own "
            "pages alone, or with the header X-CSRFToken.",
        }


class PydanticExtension(OpenApiSerializerExtension):
    """Makes the messages' models the schema of the report, so that the two cannot drift."""

    target_class = BaseModel
    match_subclasses = True
    priority = 1  # Takes precedence over the framework's own.

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        schema = _for_the_public(
            self.target.model_json_schema(
                ref_template="#/components/schemas/{model}", mode="serialization"
            )
        )
        for name, definition in schema.pop("$defs", {}).items():
            auto_schema.registry.register_on_missing(
                ResolvedComponent(
                    name=name,
                    type=ResolvedComponent.SCHEMA,
                    object=name,
                    schema=definition,
                )
            )
        return schema


class ReportFieldExtension(OpenApiSerializerFieldExtension):
    target_class = ReportField

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        report = auto_schema.resolve_serializer(Report, direction)
        return {"oneOf": [report.ref, {"type": "null"}]}


class RunReportFieldExtension(OpenApiSerializerFieldExtension):
    target_class = RunReportField

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        report = auto_schema.resolve_serializer(RunReport, direction)
        return {"oneOf": [report.ref, {"type": "null"}]}


def _for_the_public(schema: Any) -> Any:
    """Return the schema in JSON's terms, without Pydantic's titles, which only repeat the names.

    The docstrings of the messages are for Python programmers, whose None is null here.
    """
    if isinstance(schema, list):
        return [_for_the_public(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    shown = {
        key: _for_the_public(value)
        for key, value in schema.items()
        if key != "title" or not isinstance(value, str)
    }
    if isinstance(text := shown.get("description"), str):
        shown["description"] = _NONE.sub("null", _LINE_END.sub(" ", text))
    return shown
