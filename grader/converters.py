"""The converter `publicid` for addresses of pages and of the REST API."""

from __future__ import annotations

from django.urls import register_converter

from .models.ids import ALPHABET, PUBLIC_ID_LENGTH


class PublicIdConverter:
    regex = f"[{ALPHABET}]{{{PUBLIC_ID_LENGTH}}}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(PublicIdConverter, "publicid")
