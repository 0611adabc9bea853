"""JSON bodies, read strictly: UTF-8, no NaN, of bounded depth; anything else is a clear 400."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser


class StrictJSONParser(BaseParser):
    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            # The charset of the Content-Type is not asked: JSON is UTF-8 (RFC 8259).
            return json.loads(stream.read().decode("utf-8"), parse_constant=_refuse_constant)
        except UnicodeDecodeError as error:
            raise ParseError(f"The body is not UTF-8: byte {error.start + 1}.") from error
        except RecursionError as error:
            raise ParseError("The body is nested too deeply.") from error
        except ValueError as error:
            raise ParseError(f"The body is not JSON: {error}") from error


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")
