"""What all messages between site and workers have in common: strict, immutable, plain JSON."""

from __future__ import annotations

import json
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class ProtocolError(ValueError):
    """A message that does not follow the protocol; its text says where."""


class Message(BaseModel):
    """Base of all messages: immutable, no unknown fields, no NaN, no silent conversion."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False
    )

    def to_message(self) -> dict[str, Any]:
        """Return plain JSON values, as they travel in the queue."""
        return self.model_dump(mode="json")

    @classmethod
    def from_message(cls, data: object) -> Self:
        """Parse what `to_message` made.

        Raises:
            ProtocolError: a field is missing, unknown, of another type or out of range.
        """
        try:
            # Parsed as JSON, strictly: enums are strings there, and "1" is no number.
            return cls.model_validate_json(json.dumps(data), strict=True)
        except (TypeError, ValueError) as error:
            if not isinstance(error, ValidationError):
                raise ProtocolError(f"{cls.__name__}: not plain JSON values: {error}") from error
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"]) or "message"
            raise ProtocolError(f"{cls.__name__}: {place}: {first['msg']}") from error


Short = Annotated[str, Field(max_length=200)]
Text = Annotated[str, Field(max_length=4_000)]
Identifier = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.:-]+$")]
