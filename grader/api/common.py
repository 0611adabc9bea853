"""Helpers that several serializer modules share."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.urls import reverse
from rest_framework import serializers

LINKS = {"type": "object", "additionalProperties": {"type": "string", "format": "uri"}}
MOMENT_OR_NULL = {"type": ["string", "null"], "format": "date-time"}


def moment(value: datetime | None) -> str | None:
    """Format a time as the other fields of the API do."""
    return None if value is None else str(serializers.DateTimeField().to_representation(value))


class Linked(serializers.Serializer[Any]):
    """Builds absolute links."""

    def _url(self, name: str, *args: str) -> str:
        return str(self.context["request"].build_absolute_uri(reverse(name, args=args)))
