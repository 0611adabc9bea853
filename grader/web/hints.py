"""Where to look when a verdict names no mistake: what the pattern of results says by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from .words import layout_text

NOTHING_KNOWN: Final = "No known mistake"
"""How the judge's note begins that says so."""
_GROUPS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "shapes": "These cases differ from the others in shape and memory layout alone. Everything "
        "belongs to one row, the last axis; sums for parameters run over all other axes; and an "
        "empty batch, without a single row, has to work too.",
        "precision": "These cases differ from the others in the size and the dtype of their "
        "numbers alone. Square and add in float32 at least, put eps inside the root, and return "
        "the dtype of x only at the end.",
        "state": "These cases differ from the others in the order of the calls alone. Look at what "
        "your class keeps between two calls, and whether it is made anew each time.",
    }
)


def hints(report: Mapping[str, Any], gradients: Sequence[str]) -> list[str]:
    """Return sentences on where to look; none where everything passed or a mistake is named."""
    groups = report.get("groups") or []
    failed = [group for group in groups if group["passed"] is False]
    if not failed or report.get("mistakes"):
        return []
    worst = report.get("worst") or {}
    found = [note for note in report.get("notes", []) if note.startswith(NOTHING_KNOWN)]
    if len(failed) == 1 and len(groups) > 1:
        title = failed[0]["title"]
        found.append(f"All other groups passed; only “{title}” did not.")
    if len(failed) == 1 and failed[0]["id"] in _GROUPS:
        found.append(_GROUPS[failed[0]["id"]])
    elif worst.get("failed"):
        found.append(_of_quantity(worst, gradients))
    found.append(_of_publicity(groups, worst))
    return [sentence for sentence in found if sentence]


def _of_quantity(worst: Mapping[str, Any], gradients: Sequence[str]) -> str:
    quantity = worst["quantity"]
    if quantity == "y":
        return (
            "y is wrong already, and the gradients are made from what forward keeps. Repair "
            "forward first, and look at the gradients after that."
        )
    if quantity == "dx":
        return "y agrees in this case and dx does not: look at backward, and at what forward keeps."
    if quantity in gradients:
        return (
            f"y and dx agree in this case and {quantity} does not: look at what is added up for "
            "it, and over which axes."
        )
    return ""


def _of_publicity(groups: Sequence[Mapping[str, Any]], worst: Mapping[str, Any]) -> str:
    public = next((group for group in groups if group["id"] == "public"), None)
    if public is None:
        return ""
    if public["passed"]:
        order = layout_text(worst["layout"]) if worst.get("layout") else ""
        special = f" What is special here: {order}." if order and order != _PLAIN else ""
        return f"The public cases pass, so Run does not show it.{special}"
    return (
        "The public cases show it too: Run them in the editor, or at home, and work one row "
        "through by hand."
    )


_PLAIN: Final = layout_text("contiguous")
