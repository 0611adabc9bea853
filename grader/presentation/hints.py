"""Hints for verdicts that name no mistake, from the pattern of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from .words import layout_text

NOTHING_KNOWN: Final = "No known mistake"
"""The beginning of the judge's note on that."""
FORWARD_GROUPS: Final = frozenset({"forward", "losses"})
"""The groups whose cases only check the forward pass."""
GROUP_HINTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "shapes": "What is special in these cases is shape and memory layout. Everything "
        "belongs to one row, the last axis; sums for parameters run over all other axes; and an "
        "empty batch, without a single row, has to work too.",
        "state": "These cases differ from the others in the order of the calls. Look at what "
        "your class keeps between two calls, and whether it is made anew each time.",
    }
)
_PRECISION: Final = (
    "Compute, and above all add, in float32 at least, and in float64 where x has it; leave out no "
    "small values, and return the dtype of x only at the end."
)
_ZERO_ROWS: Final = (
    "A row of zeros needs no branch of its own. The normalised row, and so y before any shift, is "
    "exactly 0 there; as eps > 0, rstd is 1 / √eps, and dx has it as a factor like in any other "
    "row. Do not set rstd to 0."
)
FAMILY_HINTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bad-rows": "NaN and infinity in one row must not reach another: look for a maximum, a sum "
        "or a test that runs over the whole batch instead of over each row.",
        "mixed-scales": "The rows of a batch are of very different size here. Look for what one "
        "row is scaled by and comes from another, and for small values that are dropped, clipped "
        "or rounded although they count.",
    }
)


def hints(
    report: Mapping[str, Any], gradients: Sequence[str], *, outcome: str | None, at_home: bool
) -> list[str]:
    """Return hints as sentences; none where everything passed or a mistake is named.

    `at_home` says whether the learner can run the public cases at home.
    """
    groups = report.get("groups") or []
    failed = [group for group in groups if group["passed"] is False]
    if not failed or report.get("mistakes"):
        return []
    worst = report.get("worst") or {}
    is_wrong = outcome == "wrong_answer" and _has_wrong_numbers(worst)
    found = [note for note in report.get("notes", []) if note.startswith(NOTHING_KNOWN)]
    only = failed[0]["id"] if len(failed) == 1 else ""
    # Where the run was stopped, the other groups were not run.
    if only and len(groups) > 1 and all(group["passed"] for group in groups if group["id"] != only):
        title = failed[0]["title"]
        found.append(f"All other groups passed; only “{title}” did not.")
    if only in GROUP_HINTS:
        found.append(GROUP_HINTS[only])
    elif is_wrong and only == "precision":
        found.append(_of_family(worst))
    elif is_wrong:
        forward_passed = any(group["passed"] for group in groups if group["id"] in FORWARD_GROUPS)
        found.append(_of_quantity(worst, gradients, forward_passed))
    found.append(_of_publicity(groups, worst, is_wrong, at_home))
    return [sentence for sentence in found if sentence]


def _has_wrong_numbers(worst: Mapping[str, Any]) -> bool:
    """Return whether the shown case failed by its numbers, and not for another reason."""
    if not worst.get("failed"):
        return False
    units = worst.get("units")
    return units is None or units > worst["limit"]


def _of_family(worst: Mapping[str, Any]) -> str:
    family = worst["family"]
    has_eps = worst.get("eps") is not None
    if family == "zero-rows" and has_eps:
        return _ZERO_ROWS
    if family in FAMILY_HINTS:
        return FAMILY_HINTS[family]
    inside = " Put eps inside the root." if has_eps else ""
    return f"{_PRECISION}{inside}"


def _of_quantity(worst: Mapping[str, Any], gradients: Sequence[str], forward_passed: bool) -> str:
    quantity = worst["quantity"]
    if quantity == "y":
        if forward_passed:
            return ""
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


def _of_publicity(
    groups: Sequence[Mapping[str, Any]], worst: Mapping[str, Any], is_wrong: bool, at_home: bool
) -> str:
    public = next((group for group in groups if group["id"] == "public"), None)
    if public is None or public["passed"] is None:
        return ""
    if public["passed"]:
        order = layout_text(worst["layout"]) if worst.get("layout") else ""
        special = f" What is special here: {order}." if order and order != _PLAIN else ""
        return f"The public cases pass, so Run does not show it.{special}"
    where = "Run them in the editor, or at home" if at_home else "Run them in the editor"
    by_hand = ", and work one row through by hand" if is_wrong else ""
    return f"The public cases show it too: {where}{by_hand}."


_PLAIN: Final = layout_text("contiguous")
