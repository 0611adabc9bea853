"""Offers the bare program where other text was pasted along with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.pasted import Repair, recognise, repaired

__all__ = ["Repair", "hidden_text", "offer_of", "repair_of"]


def repair_of(source: str, report: Mapping[str, Any]) -> Repair | None:
    """Return the repaired source where the report says that pasted text made it invalid."""
    errors = any(finding["severity"] == "error" for finding in report.get("pasted", []))
    return repaired(source, characters=True) if errors else None


def offer_of(source: str) -> dict[str, str]:
    """Return an offer for a text that was typed or pasted, empty if there is nothing to repair.

    Only text that cannot be a program's own is found: nothing else is known about it.
    """
    found = repaired(source)
    if found is None:
        return {}
    message = f"More than code was pasted. In the repaired text {found.did}."
    return {"text": found.text, "message": message}


def hidden_text(source: str) -> str:
    """Return a warning of bidirectional controls, which a plain text field cannot mark."""
    return next((finding.message for finding in recognise(source) if finding.kind == "bidi"), "")
