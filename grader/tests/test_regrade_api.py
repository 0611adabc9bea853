"""`regrades/`: selection, dry run, commit, undo, and permissions."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from grader.api.filters import SubmissionFilter
from grader.api.regrades import RegradeFilterSerializer
from grader.models import RegradeRun, Submission
from grader.tests.calls import ROOT, Api, Submit, assert_problem
from grader.tests.messages import verdict, worker

REGRADES = f"{ROOT}/regrades/"


@pytest.fixture
def pair(submit: Submit) -> tuple[Submission, Submission]:
    """One wrong answer and one acceptance."""
    wrong, good = submit("x = 1"), submit("x = 2")
    worker.record_verdict(verdict(wrong, "wrong_answer"))
    worker.record_verdict(verdict(good))
    return wrong, good


def body(**chosen: Any) -> dict[str, Any]:
    return {"dry_run": True, "filter": chosen}


def test_the_filters_are_those_of_the_list() -> None:
    assert set(RegradeFilterSerializer().fields) == set(SubmissionFilter.base_filters)


def test_the_whole_way(api: Api, grader: User, pair: tuple[Submission, Submission]) -> None:
    wrong, good = pair
    client = api(grader, "grade")
    answer = client.post(REGRADES, body(exercise="rmsnorm", score_max=1), format="json")
    assert answer.status_code == 202
    run = answer.json()
    assert (run["state"], run["scope"], run["left_out"]) == ("grading", None, 0)
    assert run["filter"] == {"exercise": "rmsnorm", "score_max": 1}
    assert (run["changes"], run["states"]) == ({"waiting": 2}, {"waiting": 2})
    itself = run["links"]["self"]
    assert_problem(
        client.post(f"{itself}commit/", {"scope": "all"}, format="json"), 409, "regrade_state"
    )
    worker.record_verdict(verdict(wrong))
    worker.record_verdict(verdict(good, "wrong_answer"))
    assert client.get(itself).json()["changes"] == {"raised": 1, "lowered": 1}
    items = client.get(run["links"]["items"]).json()["results"]
    assert [(i["submission"], i["change"]) for i in items] == [
        (wrong.public_id, "raised"),
        (good.public_id, "lowered"),
    ]
    assert items[0]["old"] == {"outcome": "wrong_answer", "score": 0.25}
    assert items[0]["new"] == {"outcome": "accepted", "score": 1.0}
    done = client.post(f"{itself}commit/", {"scope": "not_lower"}, format="json").json()
    assert (done["state"], done["scope"]) == ("committed", "not_lower")
    assert done["states"] == {"applied": 1, "left": 1}
    outcomes = dict(Submission.objects.values_list("public_id", "outcome"))
    assert outcomes == {wrong.public_id: "accepted", good.public_id: "accepted"}
    undone = client.post(f"{itself}undo/").json()
    assert (undone["state"], undone["states"]) == ("undone", {"undone": 1, "left": 1})
    assert Submission.objects.get(pk=wrong.pk).outcome == "wrong_answer"
    assert_problem(client.post(f"{itself}undo/"), 409, "regrade_state")
    (listed,) = client.get(REGRADES).json()["results"]
    assert listed["id"] == run["id"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"dry_run": False}, "dry_run"),
        ({"dry_run": None}, "dry_run"),
        ({"dry_run": "yes"}, "dry_run"),
        ({"dry_run": 1}, "dry_run"),
        ({"filter": None}, "filter"),
        ({"filter": {"exercis": "rmsnorm"}}, "filter.exercis"),
        ({"filter": {"cursor": "x"}}, "filter.cursor"),
        ({"filter": {"exercise": 5}}, "filter.exercise"),
        ({"filter": {"exercise": "x" * 500}}, "filter.exercise"),
        ({"filter": {"score_min": 2}}, "filter.score_min"),
        ({"filter": {"created_after": "yesterday"}}, "filter.created_after"),
        ({"filter": {"learner": "nobody"}}, "filter.learner"),
        ({"filter": {"exercise": "norm"}}, "filter.exercise"),
        ({"filter": {"outcome": "flagged"}}, "filter"),
        ({"everything": True}, "everything"),
    ],
)
def test_bad_choices(
    api: Api,
    grader: User,
    pair: tuple[Submission, Submission],
    change: dict[str, Any],
    field: str,
) -> None:
    wanted = {**body(exercise="rmsnorm"), **change}
    response = api(grader, "grade").post(REGRADES, wanted, format="json")
    assert field in assert_problem(response, 400)["errors"]
    assert not RegradeRun.objects.exists()


def test_an_unknown_scope_and_an_unknown_run(
    api: Api, grader: User, pair: tuple[Submission, Submission]
) -> None:
    client = api(grader, "grade")
    run = client.post(REGRADES, body(), format="json").json()
    commit = f"{run['links']['self']}commit/"
    for scope in ("", "some", None, 1):
        assert (
            "scope"
            in assert_problem(client.post(commit, {"scope": scope}, format="json"), 400)["errors"]
        )
    assert_problem(client.get(f"{REGRADES}{'a' * 16}/"), 404)


def test_learners_and_tokens_without_the_scope_see_and_start_none(
    api: Api, grader: User, learner: User, pair: tuple[Submission, Submission]
) -> None:
    run = api(grader, "grade").post(REGRADES, body(), format="json").json()
    itself = run["links"]["self"]
    for client in (api(learner, "read", "submit"), api(grader, "read", "submit")):
        for url in (REGRADES, itself, f"{itself}items/"):
            assert_problem(client.get(url), 403)
        for url in (REGRADES, f"{itself}commit/", f"{itself}undo/"):
            assert_problem(client.post(url, {}, format="json"), 403)
    assert_problem(api().get(REGRADES), 401)


def test_items_come_in_pages_with_a_constant_number_of_queries(
    api: Api,
    grader: User,
    submit: Submit,
    settings: Any,
    django_assert_max_num_queries: Any,
) -> None:
    settings.GRADING = {**settings.GRADING, "SUBMISSIONS_PER_MINUTE": 99}
    for number in range(7):
        worker.record_verdict(verdict(submit(f"x = {number}")))
    client = api(grader, "grade")
    url = client.post(REGRADES, body(), format="json").json()["links"]["items"] + "?page_size=3"
    seen: list[str] = []
    while url:
        with django_assert_max_num_queries(9):
            page = client.get(url).json()
        seen += [item["submission"] for item in page["results"]]
        url = page["next"]
    assert seen == list(Submission.objects.order_by("pk").values_list("public_id", flat=True))
