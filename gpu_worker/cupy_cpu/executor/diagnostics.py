"""One thing that is wrong with a kernel or its launch, in words for its author."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .defects import Defect, Severity

__all__ = ["Diagnostic", "Severity"]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """`line` counts from 1 in the kernel's own source; None where no line is to blame."""

    kind: Defect
    severity: Severity
    kernel: str
    line: int | None
    message: str
    detail: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        return {
            "kind": str(self.kind),
            "severity": str(self.severity),
            "kernel": self.kernel,
            "line": self.line,
            "message": self.message,
            "detail": dict(self.detail),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Diagnostic:
        """Return what `as_dict` made.

        Raises:
            KeyError, ValueError: it is not of that form.
        """
        return cls(
            Defect(data["kind"]),
            Severity(data["severity"]),
            str(data["kernel"]),
            None if data["line"] is None else int(data["line"]),
            str(data["message"]),
            dict(data["detail"]),
        )

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line else ""
        where = f"{self.kernel}, {place}" if self.kernel else place
        return f"{where}{self.message}"
