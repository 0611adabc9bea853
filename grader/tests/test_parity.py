"""Two gradings are compared by their results for the same cases, in units."""

from __future__ import annotations

from typing import Any

import pytest

from grader.presentation.parity import Agreement, Difference, Parity, compare

from .messages import group, public_result


def compared(left: dict[str, Any], right: dict[str, Any]) -> Difference:
    parity = compare({"public": [left]}, {"public": [right]})
    assert parity is not None
    (difference,) = parity.results
    return difference


def test_the_same_numbers_are_the_same() -> None:
    found = compared(public_result(1.0, None, -0.5), public_result(1.0, None, -0.5))
    assert (found.agreement, found.units, found.index) == (Agreement.SAME, 0.0, ())


@pytest.mark.parametrize(
    ("second", "agreement", "units"),
    [(2.004, Agreement.WITHIN, 4.0), (2.033, Agreement.DIFFERENT, 33.0)],
)
def test_where_and_by_how_much_they_differ(
    second: float, agreement: Agreement, units: float
) -> None:
    shape = {"shape": [2, 2]}
    left = public_result(1.0, 1.0, 2.0, 1.0, **shape)
    right = public_result(1.001, 1.0, second, 1.0, **shape)
    found = compared(left, right)
    assert (found.agreement, found.index) == (agreement, (1, 0))
    assert found.units == pytest.approx(units)
    assert (found.left, found.right, found.limit) == (2.0, second, 32.0)


def test_the_coarser_side_says_how_exact_both_can_be() -> None:
    coarse = public_result(1.1, units=[0.1], limit=1.5)
    found = compared(public_result(1.0), coarse)
    assert found.units == pytest.approx(1.0)
    assert (found.agreement, found.limit) == (Agreement.WITHIN, 32.0)


def test_what_is_not_finite_on_one_side_differs_most() -> None:
    found = compared(public_result(1.0, 9.0), public_result(None, 0.0))
    assert (found.agreement, found.units, found.index) == (Agreement.DIFFERENT, None, (0,))
    assert (found.left, found.right) == (1.0, None)


def test_what_one_side_lacks_is_missing() -> None:
    left = {"public": [public_result(1.0), public_result(1.0, quantity="dx")]}
    right = {"public": [public_result(1.0), public_result(1.0, 2.0, quantity="dx")]}
    right["public"].append(public_result(1.0, quantity="dgamma"))
    parity = compare(left, right)
    assert parity is not None
    assert [(each.agreement, each.missing_on) for each in parity.results] == [
        ("same", ""),
        ("missing", ""),
        ("missing", "left"),
    ]
    assert not parity.agrees
    assert parity.worst is not None
    assert parity.worst.quantity == "y"


def test_the_largest_difference_is_found_by_its_units() -> None:
    def pair(*quantities: tuple[str, float | None]) -> Parity:
        left = [public_result(1.0, quantity=name) for name, _ in quantities]
        right = [public_result(value, quantity=name) for name, value in quantities]
        parity = compare({"public": left}, {"public": right})
        assert parity is not None
        return parity

    near = pair(("y", 1.002), ("dx", 1.003), ("dgamma", 1.0))
    assert near.worst is not None
    assert near.worst.quantity == "dx"
    assert near.agrees
    broken = pair(("y", 1.9), ("dx", None), ("dgamma", 1.0))
    assert broken.worst is not None
    assert broken.worst.quantity == "dx"
    assert not broken.agrees


def test_what_is_too_much_comes_before_what_is_more_but_allowed() -> None:
    exact = public_result(1.0)
    halves = public_result(1.0, quantity="dx", limit=1.5)
    left = {"public": [exact, halves]}
    right = {"public": [{**exact, "values": [1.03]}, {**halves, "values": [1.002]}]}
    parity = compare(left, right)
    assert parity is not None
    assert parity.worst is not None
    assert (parity.worst.quantity, parity.worst.agreement) == ("dx", "different")


@pytest.mark.parametrize("change", [{"units": []}, {"shape": [3]}, {"shape": [-2, -1]}])
def test_a_result_that_is_not_whole_is_none(change: dict[str, Any]) -> None:
    right = {"public": [public_result(1.0, 2.0), public_result(1.0, quantity="dx")]}
    left = {"public": [public_result(1.0, 2.0, **change), public_result(1.0, quantity="dx")]}
    parity = compare(left, right)
    assert parity is not None
    found = {each.quantity: each.agreement for each in parity.results}
    assert found == {"y": "missing", "dx": "same"}


def test_of_hidden_cases_the_numbers_passed_stand_side_by_side() -> None:
    left = {"groups": [group(True), group(False, id="own", title="Own")]}
    right = {"groups": [group(False, cases=9)]}
    left["public"] = right["public"] = [public_result(1.0)]
    parity = compare(left, right)
    assert parity is not None
    (row,) = parity.groups
    assert (row.id, row.title) == ("basics", "Basics")
    assert (row.left_passed, row.left_cases, row.right_passed, row.right_cases) == (3, 3, 1, 9)
    assert parity.agrees


@pytest.mark.parametrize("report", [{}, {"failure": {"message": "It stopped."}}])
def test_reports_without_results_are_not_compared(report: dict[str, Any]) -> None:
    assert compare(report, {"groups": [group()], "public": [public_result(1.0)]}) is None
