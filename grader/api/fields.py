"""Strict fields that declare in the schema what they accept."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import django_filters
from django import forms
from django.core.exceptions import ValidationError
from django.utils.dateparse import parse_datetime
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers


class StrictCharField(serializers.CharField):
    """A JSON string; numbers are not taken for one."""

    default_error_messages = {"not_a_string": "This must be a string."}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("not_a_string")
        return str(super().to_internal_value(data))


class StrictFloatField(serializers.FloatField):
    """A JSON number; true and texts are not taken for one."""

    default_error_messages = {"not_a_number": "This must be a number."}

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("not_a_number")
        try:
            return float(super().to_internal_value(data))
        except OverflowError:
            self.fail("not_a_number")


class StrictBooleanField(serializers.BooleanField):
    """True or false; numbers and words are not taken for them."""

    default_error_messages = {"not_a_boolean": "This must be true or false."}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("not_a_boolean")
        return data


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses fields that it does not know: a misspelt one is an error, never left out."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping) and (unknown := set(data) - set(self.fields)):
            known = ", ".join(sorted(self.fields))
            raise serializers.ValidationError(
                {str(name): [f"There is no such field. There are {known}."] for name in unknown}
            )
        return super().to_internal_value(data)


@extend_schema_field({"type": "string"})
class SourceField(serializers.Field[str, Any, str, Any]):
    """Any text: what is allowed in a source is for the service to say, with the right status."""

    default_error_messages = {"not_a_string": "The source must be a string."}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("not_a_string")
        return str(data)

    def to_representation(self, value: str) -> str:
        return value


HOW_TO_WRITE_A_TIME = (
    "Write a time as 2026-11-30T14:00:00Z, which is UTC, or with its offset from UTC, as in "
    "2026-11-30T15:00:00+01:00 (in an address + is written %2B)."
)


def read_moment(text: str) -> datetime:
    """Parse an ISO 8601 time with its zone; return it in UTC, which every database compares.

    Raises:
        ValueError: says what to write instead. A time without a zone is refused: the caller's zone
            and the server's differ, and nobody would notice by how much.
    """
    try:
        moment = parse_datetime(text.strip())
    except ValueError as error:
        raise ValueError(f"There is no such time. {HOW_TO_WRITE_A_TIME}") from error
    if moment is None:
        raise ValueError(f"This is no time. {HOW_TO_WRITE_A_TIME}")
    if moment.utcoffset() is None:
        raise ValueError(f"This time has no zone. {HOW_TO_WRITE_A_TIME}")
    try:
        return moment.astimezone(UTC)
    except (OverflowError, ValueError) as error:
        raise ValueError("This time is out of range.") from error


class StrictMomentField(serializers.DateTimeField):
    """An ISO 8601 time with its zone, as a JSON string."""

    def to_internal_value(self, value: Any) -> datetime:
        if not isinstance(value, str):
            raise serializers.ValidationError(HOW_TO_WRITE_A_TIME)
        try:
            return read_moment(value)
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from error


def as_it_stands(sentence: str) -> ValidationError:
    """Return an error whose text may contain `%`: django-filter treats texts as formats."""
    return ValidationError("%(sentence)s", params={"sentence": sentence})


class _MomentFormField(forms.CharField):
    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        try:
            return read_moment(text) if text else None
        except ValueError as error:
            raise as_it_stands(str(error)) from error


class MomentFilter(django_filters.IsoDateTimeFilter):
    """An ISO 8601 time with its zone."""

    field_class = _MomentFormField


class ScoreFilter(django_filters.NumberFilter):
    """A number from 0 to 1."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.extra.setdefault("min_value", 0)
        self.extra.setdefault("max_value", 1)
        self.field_class = forms.FloatField

    def get_max_validator(self) -> None:
        """The range above is the limit."""
