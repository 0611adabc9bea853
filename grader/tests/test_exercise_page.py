"""The exercise's page: policy, downloads, comparisons; and hints of verdicts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse

from grader.models import Exercise, Submission
from grader.presentation.hints import hints as find_hints
from grader.presentation.words import in_words, inputs_text, layout_text
from grader.templatetags.speed import roofline
from grader.tests.messages import full_report, verdict, worker

Submit = Callable[..., Submission]


@pytest.fixture
def signed_in(client: Client, learner: User) -> Client:
    client.force_login(learner)
    return client


class TestPolicy:
    def test_styles_need_the_pages_own_nonce_and_scripts_stay_strict(
        self, client: Client, exercise: Exercise
    ) -> None:
        first, second = (client.get(exercise.get_absolute_url()) for _ in range(2))
        policies = [response["Content-Security-Policy"] for response in (first, second)]
        nonces = [re.search(r"style-src 'self' 'nonce-([^']+)'", text) for text in policies]
        assert all(nonces)
        assert nonces[0] is not None
        assert f'data-nonce="{nonces[0][1]}"' in first.content.decode()
        assert policies[0] != policies[1]
        assert "script-src 'self';" in policies[0]
        assert "unsafe" not in policies[0]

    def test_other_pages_have_no_nonce(self, signed_in: Client, submit: Submit) -> None:
        policy = signed_in.get(submit().get_absolute_url())["Content-Security-Policy"]
        assert "nonce" not in policy


class TestDownloads:
    def test_the_script_for_home_is_a_python_file(self, client: Client, exercise: Exercise) -> None:
        response = client.get(reverse("grader:check_script", args=[exercise.slug]))
        assert 'filename="check_rmsnorm.py"' in response["Content-Disposition"]
        compile(response.content, "check_rmsnorm.py", "exec")

    def test_an_unpublished_exercise_gives_none(self, client: Client, exercise: Exercise) -> None:
        Exercise.objects.update(is_published=False)
        url = reverse("grader:check_script", args=[exercise.slug])
        assert client.get(url).status_code == 404

    def test_the_text_comes_back_as_a_file(self, client: Client, exercise: Exercise) -> None:
        url = reverse("grader:download", args=[exercise.slug])
        response = client.post(url, {"source": "é = 1\r\n", "track": "numpy"})
        assert response.content.decode() == "é = 1\n"
        assert 'filename="rmsnorm_numpy.py"' in response["Content-Disposition"]


class TestComparing:
    def test_two_submissions_in_order_of_time(self, signed_in: Client, submit: Submit) -> None:
        old, new = submit("a\nb\nc\n"), submit("a\n<b>\nc\n")
        url = reverse("grader:compare", args=[old.exercise.slug])
        page = signed_in.get(url, {"old": new.public_id, "new": old.public_id}).content.decode()
        assert "1 line added, 1 removed" in page
        assert page.index("removed: </span>b") < page.index("added: </span>&lt;b&gt;")
        alone = signed_in.get(url, {"old": old.public_id, "new": new.public_id, "fragment": 1})
        assert b"<html" not in alone.content

    def test_others_submissions_and_junk_are_not_found(
        self, signed_in: Client, submit: Submit, other: User
    ) -> None:
        mine, hers = submit("a"), submit("b", user=other)
        url = reverse("grader:compare", args=[mine.exercise.slug])
        for new in (hers.public_id, "", "x" * 16):
            assert signed_in.get(url, {"old": mine.public_id, "new": new}).status_code == 404

    def test_the_page_offers_it_and_the_verdict_too(
        self, signed_in: Client, submit: Submit
    ) -> None:
        first = submit("a")
        page = signed_in.get(first.exercise.get_absolute_url()).content.decode()
        assert "Compare the two" not in page
        second = submit("b")
        page = signed_in.get(first.exercise.get_absolute_url()).content.decode()
        assert "Compare the two that are marked" in page
        shown = signed_in.get(second.get_absolute_url()).content.decode()
        assert f"old={first.public_id}&amp;new={second.public_id}" in shown
        assert (
            "since the one before" not in signed_in.get(first.get_absolute_url()).content.decode()
        )

    def test_sources_that_differ_in_too_many_places_are_shown_whole(
        self, signed_in: Client, submit: Submit
    ) -> None:
        old, new = (submit("".join(f"a\n{name}{n}\n" for n in range(2_500))) for name in ("x", "y"))
        url = reverse("grader:compare", args=[old.exercise.slug])
        page = signed_in.get(url, {"old": old.public_id, "new": new.public_id}).content.decode()
        assert "2500 lines added, 2500 removed: too many to be shown line by line" in page
        assert "x2499" in page
        assert "y2499" in page
        assert "the same, line by line" not in page


def group(identity: str, passed: bool | None) -> dict[str, Any]:
    return {"id": identity, "title": identity.title(), "passed": passed}


def hints(
    report: dict[str, Any], *, outcome: str = "wrong_answer", at_home: bool = True
) -> list[str]:
    return find_hints(report, ("dgamma",), outcome=outcome, at_home=at_home)


def wrong(**fields: Any) -> dict[str, Any]:
    """A worst case whose numbers are wrong."""
    return {
        "failed": True,
        "quantity": "y",
        "layout": "contiguous",
        "family": "normal",
        "eps": 1e-6,
        "units": 99.0,
        "limit": 32.0,
        **fields,
    }


class TestHints:
    def test_a_named_mistake_or_a_pass_needs_none(self) -> None:
        assert hints({"groups": [group("public", True)]}) == []
        assert hints({"groups": [group("public", False)], "mistakes": [{}]}) == []
        assert hints({}) == []

    @pytest.mark.parametrize(
        ("quantity", "says"),
        [("y", "Repair forward first"), ("dx", "look at backward"), ("dgamma", "added up")],
    )
    def test_the_wrong_quantity_says_where(self, quantity: str, says: str) -> None:
        report = {
            "groups": [group("public", False), group("forward", False)],
            "worst": wrong(quantity=quantity),
            "notes": ["No known mistake explains it.", "Something else."],
        }
        found = hints(report)
        assert found[0] == "No known mistake explains it."
        assert any(says in sentence for sentence in found)
        assert "The public cases show it too" in found[-1]

    def test_one_failing_group_says_what_is_special_about_it(self) -> None:
        report = {
            "groups": [group("public", True), group("state", False)],
            "worst": wrong(layout="interleaved"),
        }
        text = " ".join(hints(report))
        assert "only “State” did not" in text
        assert "the order of the calls" in text
        assert "two instances, called by turns" in text

    def test_groups_that_were_not_run_are_not_said_to_have_passed(self) -> None:
        groups = [group("public", False), group("forward", None)]
        assert "passed" not in " ".join(hints({"groups": groups}, outcome="memory_limit"))

    def test_forward_that_passed_is_not_to_be_repaired(self) -> None:
        groups = [group("forward", True), group("shapes", False), group("state", False)]
        assert hints({"groups": groups, "worst": wrong()}) == []

    @pytest.mark.parametrize("outcome", ["runtime_error", "contract_error"])
    def test_numbers_are_no_matter_where_something_else_stopped_it(self, outcome: str) -> None:
        groups = [group("public", False), group("forward", False)]
        assert hints({"groups": groups, "worst": wrong()}, outcome=outcome) == [
            "The public cases show it too: Run them in the editor, or at home."
        ]

    def test_errors_within_the_limit_are_not_called_wrong(self) -> None:
        groups = [group("public", False), group("forward", False)]
        text = " ".join(hints({"groups": groups, "worst": wrong(units=1.0)}))
        assert "wrong already" not in text
        assert "by hand" not in text

    def test_a_row_is_worked_by_hand_where_numbers_are_wrong(self) -> None:
        report = {"groups": [group("public", False)], "worst": wrong()}
        assert hints(report)[-1].endswith("or at home, and work one row through by hand.")
        assert hints(report, at_home=False)[-1] == (
            "The public cases show it too: Run them in the editor, and work one row through by "
            "hand."
        )

    @pytest.mark.parametrize(
        ("fields", "says"),
        [
            ({"family": "zero-rows"}, "Do not set rstd to 0"),
            ({"family": "bad-rows"}, "must not reach another"),
            ({"family": "mixed-scales"}, "comes from another, and for small values"),
            ({"family": "large"}, "Put eps inside the root"),
            ({"family": "zero-rows", "eps": None}, "in float32 at least"),
        ],
    )
    def test_the_family_decides_what_is_said_of_precision(
        self, fields: dict[str, Any], says: str
    ) -> None:
        groups = [group("public", True), group("precision", False)]
        text = " ".join(hints({"groups": groups, "worst": wrong(**fields)}))
        assert says in text
        rows = fields["family"] in {"bad-rows", "mixed-scales"}
        assert ("eps" in text) == (fields.get("eps", 0) is not None and not rows)


class TestWords:
    def test_a_case_is_written_out(self) -> None:
        message = "In a hidden case (zero-rows, shape (4, 7), float32, reversed, eps 1e-08): y off."
        assert in_words(message, {}) == (
            "In a hidden case (rows of zeros among others; x of shape (4, 7), float32; "
            "a view with negative strides; eps 1e-08): y off."
        )
        # As it is said now, and as it was.
        for eps in ("", ", eps the default"):
            public = f"In a public case (one, shape (3,), float16{eps}): y off."
            expected = "In a public case (My title; x of shape (3,), float16): y off."
            assert in_words(public, {"one": "My title"}) == expected
        given = "In a hidden case (zero-rows, shape (3,), float16, eps 0.1): y off."
        assert in_words(given, {}).endswith("x of shape (3,), float16; eps 0.1): y off.")
        assert in_words("Your file has no class.", {}) == "Your file has no class."

    def test_unknown_names_are_shown_as_they_are(self) -> None:
        assert inputs_text({"family": "new-family", "group": "g"}, {}) == "new family"
        assert layout_text("some-order") == "some order"


class TestRoofline:
    def speed(self, **fields: Any) -> dict[str, Any]:
        row = {
            "direction": "forward",
            "ms": 2.0,
            "copy_fraction": 0.1,
            "copy_fraction_spread": 0.01,
            "times_reference": 2.0,
            "refused": "",
        }
        return {"shape": [512, 1024], "dtype": "float32", "rows": [{**row, **fields}]}

    def test_places_lie_on_a_logarithmic_axis_below_the_roof(self) -> None:
        chart = roofline(self.speed())
        assert chart is not None
        (row,) = chart.rows
        places = {tick.label: tick.x for tick in chart.ticks}
        assert row.x == places["10 %"]
        assert row.x < row.reference_x < chart.roof_x == places["100 %"]
        assert row.spread_from < row.x < row.spread_to

    def test_absurd_values_stay_inside_the_drawing(self) -> None:
        for share in (0.0, 1e-9, 50.0):
            chart = roofline(self.speed(copy_fraction=share))
            assert chart is not None
            assert chart.left <= chart.rows[0].x <= chart.width
        assert roofline(None) is None
        assert roofline({"rows": []}) is None

    def test_it_is_drawn_with_words_for_those_who_do_not_see_it(self) -> None:
        text = render_to_string("grader/_report_speed.html", {"chart": roofline(self.speed())})
        assert "Forward: 10\u202f% of a copy’s bandwidth; the best plain NumPy reaches" in text
        device = roofline({**self.speed(), "reference": "the fused reference kernels"})
        text = render_to_string("grader/_report_speed.html", {"chart": device})
        assert "times as long as the fused reference kernels." in text
        assert "NumPy" not in text
        refused = roofline(self.speed(refused="faster than memory"))
        text = render_to_string("grader/_report_speed.html", {"chart": refused})
        assert "faster than memory" in text
        assert "<circle" not in text


def test_the_failing_line_is_marked_in_source_and_editor(signed_in: Client, submit: Submit) -> None:
    submission = submit("import numpy\nboom()\n")
    failure = {"message": "Loading your file raised NameError.", "line": 2}
    report = full_report(False) | {"failure": failure, "mistakes": []}
    worker.record_verdict(verdict(submission, "runtime_error", report=report))
    page = signed_in.get(submission.get_absolute_url()).content.decode()
    assert '<span class="line is-marked" id="source-line-2"' in page
    assert '<a href="#source-line-2">Line 2</a> <code translate="no">boom()</code>' in page
    again = signed_in.get(f"{submission.exercise.get_absolute_url()}?from={submission.public_id}")
    assert 'data-mark-line="2"' in again.content.decode()
