"""Strict JSON bodies: UTF-8, no NaN, no duplicate keys, limited depth; otherwise a clear 400."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

MAX_DIGITS = 300


class _NotTaken(Exception):
    """JSON with duplicate keys, or with values that cannot be used."""


class StrictJSONParser(BaseParser):
    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            # The charset of the Content-Type is ignored: JSON is UTF-8 (RFC 8259).
            return json.loads(
                stream.read().decode("utf-8"),
                parse_constant=_refuse_constant,
                parse_int=_read_integer,
                object_pairs_hook=_read_object,
            )
        except UnicodeDecodeError as error:
            raise ParseError(f"The body is not UTF-8: byte {error.start + 1}.") from error
        except RecursionError as error:
            raise ParseError("The body is nested too deeply.") from error
        except _NotTaken as error:
            raise ParseError(str(error)) from error
        except ValueError as error:
            raise ParseError(f"The body is not JSON: {error}") from error


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


def _read_integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _NotTaken(
            f"A number in the body has {len(digits)} digits; at most {MAX_DIGITS} are read."
        )
    return int(digits)


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for name, value in pairs:
        if name in read:
            raise _NotTaken(f"The field “{name}” stands twice in one object of the body.")
        read[name] = value
    return read
