"""A grader's score overrides the grading's, and survives every regrade."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from grader import services
from grader.models import AuditEntry, ScoreOverride, Submission
from grader.services import errors
from grader.tests.calls import ROOT, Api, Submit, assert_problem
from grader.tests.messages import verdict, worker

REASON = "The idea is right."


@pytest.fixture
def wrong(submit: Submit) -> Submission:
    submission = submit()
    worker.record_verdict(verdict(submission, "wrong_answer"))
    submission.refresh_from_db()
    return submission


def values(submission: Submission) -> dict[str, Any]:
    return dict(Submission.objects.values().get(pk=submission.pk))


def test_it_replaces_the_score_and_gives_it_back(wrong: Submission, grader: User) -> None:
    before = values(wrong)
    now = services.override_score(wrong, grader, 0.75, f" {REASON} ")
    assert (now.score, now.outcome, now.report) == (0.75, "wrong_answer", wrong.report)
    again = services.override_score(now, grader, 0.5, REASON)
    override = ScoreOverride.objects.get()
    assert (override.score, override.graded_score, override.created_by) == (0.5, 0.25, grader)
    services.remove_override(again, grader)
    after = values(wrong)
    assert (after["score"], after["version"]) == (0.25, before["version"] + 3)
    acts = AuditEntry.objects.filter(action__startswith="override.").order_by("id")
    graded, first, second = (
        {"score": 0.25, "reason": None},
        {"score": 0.75, "reason": REASON},
        {"score": 0.5, "reason": REASON},
    )
    assert list(acts.values_list("action", "before", "after")) == [
        ("override.set", graded, first),
        ("override.set", first, second),
        ("override.removed", second, graded),
    ]
    with pytest.raises(errors.NotOverridable):
        services.remove_override(wrong, grader)


def test_regrades_do_not_change_it(wrong: Submission, grader: User, submit: Submit) -> None:
    early = services.start_regrade(grader, Submission.objects.all(), {})
    worker.record_verdict(verdict(wrong))
    services.override_score(wrong, grader, 0.5, REASON)
    kept = values(wrong)
    services.commit_regrade(grader, early, "all")
    assert values(wrong) == kept
    with pytest.raises(errors.RegradeRefused):
        services.start_regrade(grader, Submission.objects.all(), {})


def test_an_undo_does_not_take_it_away(wrong: Submission, grader: User) -> None:
    run = services.start_regrade(grader, Submission.objects.all(), {})
    worker.record_verdict(verdict(wrong))
    services.commit_regrade(grader, run, "all")
    services.override_score(Submission.objects.get(), grader, 0.5, REASON)
    services.undo_regrade(grader, run)
    now = values(wrong)
    assert (now["outcome"], now["score"]) == ("accepted", 0.5)


@pytest.mark.parametrize("outcome", [None, "flagged", "not_gradable"])
def test_only_a_score_is_replaced(submit: Submit, grader: User, outcome: str | None) -> None:
    submission = submit()
    if outcome:
        worker.record_verdict(verdict(submission, outcome))
        submission.refresh_from_db()
    with pytest.raises(errors.NotOverridable):
        services.override_score(submission, grader, 0.5, REASON)


def test_a_submission_that_changed_since_it_was_read_is_left_alone(
    wrong: Submission, grader: User
) -> None:
    seen = Submission.objects.get()
    services.override_score(wrong, grader, 0.75, REASON)
    for act in (
        lambda: services.override_score(seen, grader, 0.5, REASON),
        lambda: services.remove_override(seen, grader),
    ):
        with pytest.raises(errors.ChangedMeanwhile):
            act()
    assert ScoreOverride.objects.get().score == 0.75


def test_the_admin_shows_it(wrong: Submission, grader: User, client: Client) -> None:
    services.override_score(wrong, grader, 0.75, REASON)
    client.force_login(grader)
    page = client.get(reverse("admin:grader_submission_change", args=[wrong.pk]))
    assert f"0.75, in place of 0.25: {REASON}" in page.content.decode()


def test_the_page_says_beside_the_score_who_set_it(
    wrong: Submission, learner: User, grader: User, client: Client
) -> None:
    client.force_login(learner)
    assert "set by a grader" not in client.get(wrong.get_absolute_url()).content.decode()
    services.override_score(wrong, grader, 0.75, REASON)
    page = client.get(wrong.get_absolute_url()).content.decode()
    assert '<a href="#notes-title">set by a grader</a>' in page
    assert page.index('id="notes-title"') < page.index(f"A grader set the score: {REASON}")


def test_learners_give_themselves_none(wrong: Submission, learner: User) -> None:
    with pytest.raises(errors.NotAllowed):
        services.override_score(wrong, learner, 1.0, REASON)
    with pytest.raises(errors.NotAllowed):
        services.remove_override(wrong, learner)


class TestApi:
    @pytest.fixture
    def url(self, wrong: Submission) -> str:
        return f"{ROOT}/submissions/{wrong.public_id}/"

    def test_the_way_there_and_back(
        self, api: Api, grader: User, learner: User, client: Client, url: str
    ) -> None:
        graders = api(grader, "read", "grade")
        etag = graders.get(url)["ETag"]
        body = {"score": 0.75, "reason": REASON}
        answer = graders.put(f"{url}override/", body, format="json", headers={"If-Match": etag})
        assert answer.status_code == 200
        override_made_at = ScoreOverride.objects.get().created_at
        shown = api(learner).get(url)
        assert shown["ETag"] == answer["ETag"] != etag
        assert shown.json()["score"] == 0.75
        events = api(learner).get(f"{url}events/").json()["events"]
        assert [event["score"] for event in events[-2:]] == [0.25, 0.75]
        override = shown.json()["override"]
        assert (override["score"], override["graded_score"]) == (0.75, 0.25)
        client.force_login(learner)
        page = client.get(url.removeprefix("/api/v1") + "?fragment=1").content.decode()
        assert f"A grader set the score: {REASON} The grading gave 25 %." in page
        again = graders.put(f"{url}override/", body, format="json", headers={"If-Match": etag})
        assert (again.status_code, again["ETag"]) == (200, answer["ETag"]), "it is done already"
        assert ScoreOverride.objects.get().created_at == override_made_at
        other = {**body, "score": 0.5}
        late = graders.put(f"{url}override/", other, format="json", headers={"If-Match": etag})
        assert_problem(late, 412, "changed")
        unquoted = answer["ETag"].strip('"')
        back = graders.delete(f"{url}override/", headers={"If-Match": unquoted})
        assert (back.json()["score"], back.json()["override"]) == (0.25, None)
        events = api(learner).get(f"{url}events/").json()["events"]
        assert [event["kind"] for event in events[-2:]] == ["score_set", "score_back"]
        assert (events[-2]["score"], events[-2]["reason"]) == (0.75, REASON)
        assert (events[-3]["kind"], events[-3]["score"]) == ("graded", 0.25)

    @pytest.mark.parametrize("coding", ["gzip", "br", "identity", "gzip, deflate, br, zstd", "*"])
    @pytest.mark.parametrize(
        "sent_back",
        [
            "{}",
            'W/"other", {}',
            '{}, "other"',
            # What proxies make of a tag where they compress.
            pytest.param("{}-gzip", id="with a suffix"),
        ],
    )
    def test_the_tag_that_the_site_gave_holds_whatever_the_coding(
        self, api: Api, grader: User, url: str, coding: str, sent_back: str
    ) -> None:
        graders = api(grader, "read", "grade")
        encoding = {"Accept-Encoding": coding}

        def condition(tag: str) -> dict[str, str]:
            suffixed = sent_back.endswith("-gzip")
            tag = f'{tag[:-1]}-gzip"' if suffixed else sent_back.format(tag)
            return {**encoding, "If-Match": tag}

        read = graders.get(url, headers=encoding)
        assert read["ETag"].startswith("W/") is (coding != "identity")
        body = {"score": 0.75, "reason": REASON}
        put = graders.put(f"{url}override/", body, format="json", headers=condition(read["ETag"]))
        assert put.status_code == 200
        stale = graders.delete(f"{url}override/", headers=condition(read["ETag"]))
        assert_problem(stale, 412, "changed")
        deleted = graders.delete(f"{url}override/", headers=condition(put["ETag"]))
        assert deleted.status_code == 200
        again = graders.put(
            f"{url}override/", body, format="json", headers=condition(deleted["ETag"])
        )
        assert again.status_code == 200
        known = {**encoding, "If-None-Match": again["ETag"]}
        assert graders.get(url, headers=known).status_code == 304
        assert graders.get(url, headers=condition(again["ETag"])).status_code == 200
        assert_problem(graders.get(url, headers=condition(read["ETag"])), 412, "changed")

    @pytest.mark.parametrize("tag", ['""', '"', "W/", 'W/""', ",", '"1"', "1", '"*"'])
    def test_other_tags_are_refused(self, api: Api, grader: User, url: str, tag: str) -> None:
        graders = api(grader, "read", "grade")
        body = {"score": 0.75, "reason": REASON}
        refused = graders.put(f"{url}override/", body, format="json", headers={"If-Match": tag})
        assert_problem(refused, 412, "changed")

    def test_without_a_condition_or_the_right_nothing_changes(
        self, api: Api, grader: User, learner: User, other: User, url: str
    ) -> None:
        body = {"score": 1, "reason": REASON}
        graders = api(grader, "read", "grade")
        for method in ("put", "delete"):
            bare = getattr(graders, method)(f"{url}override/", body, format="json")
            assert_problem(bare, 428, "if_match_required")
        for client, status in (
            (api(grader, "read"), 403),
            (api(learner), 403),
            (api(), 401),
        ):
            tried = client.put(f"{url}override/", body, format="json", headers={"If-Match": "*"})
            assert_problem(tried, status)
        assert not ScoreOverride.objects.exists()

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"score": 1.5}, "score"),
            ({"score": "NaN"}, "score"),
            ({"score": None}, "score"),
            ({"score": True}, "score"),
            ({"score": "0.5"}, "score"),
            ({"score": 10**299}, "score"),
            ({"reason": " "}, "reason"),
            ({"reason": "x" * 1001}, "reason"),
            ({"by": "me"}, "by"),
        ],
    )
    def test_bad_overrides(
        self, api: Api, grader: User, url: str, change: dict[str, Any], field: str
    ) -> None:
        response = api(grader, "read", "grade").put(
            f"{url}override/",
            {"score": 0.5, "reason": REASON, **change},
            format="json",
            headers={"If-Match": "*"},
        )
        assert field in assert_problem(response, 400)["errors"]
