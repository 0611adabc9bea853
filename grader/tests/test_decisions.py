"""Decisions on submissions that are held for review."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from courses.learners import learner_of
from courses.models import RequirementMet
from grader import services
from grader.models import AuditEntry, Outcome, Submission
from grader.services.errors import DecisionRefused, NotAllowed, NotDecidable
from grader.tests.calls import ROOT, Api, Submit, assert_problem
from grader.tests.messages import verdict, worker

REASON = "The pickled helper is harmless: the results are your own."


@pytest.fixture
def flagged(submit: Submit) -> Submission:
    submission = submit()
    report = {"failure": {"message": "The program forged the end."}, "notes": ["A note."]}
    worker.record_verdict(verdict(submission, "flagged", report=report))
    submission.refresh_from_db()
    assert submission.outcome == Outcome.FLAGGED
    return submission


def is_met(submission: Submission) -> bool:
    met = RequirementMet.objects.filter(learner=learner_of(submission.user))
    return met.filter(name=submission.exercise.requirement).exists()


class TestService:
    @pytest.mark.parametrize(
        ("outcome", "score"), [("accepted", 1.0), ("wrong_answer", 0.0), ("contract_error", 0.0)]
    )
    def test_a_grader_settles_it_and_the_act_is_recorded(
        self, flagged: Submission, grader: User, outcome: str, score: float
    ) -> None:
        version = flagged.version
        services.decide_flagged(flagged, grader, outcome, f"  {REASON}\n")
        flagged.refresh_from_db()
        assert (flagged.outcome, flagged.score) == (outcome, score)
        assert flagged.decision_reason == REASON
        assert flagged.version == version + 1
        assert is_met(flagged) is (outcome == "accepted")
        entry = AuditEntry.objects.get(action="submission.decided")
        assert (entry.actor, entry.target) == (grader, f"submission:{flagged.public_id}")
        assert entry.before == {"outcome": "flagged", "score": None, "reason": None}
        assert entry.after == {"outcome": outcome, "score": score, "reason": REASON}

    def test_what_the_worker_found_is_kept(self, flagged: Submission, grader: User) -> None:
        report = flagged.report
        services.decide_flagged(flagged, grader, "accepted", REASON)
        flagged.refresh_from_db()
        assert flagged.report == report
        assert flagged.attempts.get().outcome == Outcome.FLAGGED

    def test_the_first_decision_holds(self, flagged: Submission, grader: User) -> None:
        stale = Submission.objects.get(pk=flagged.pk)
        services.decide_flagged(flagged, grader, "wrong_answer", REASON)
        with pytest.raises(NotDecidable):
            services.decide_flagged(stale, grader, "accepted", REASON)
        flagged.refresh_from_db()
        assert flagged.outcome == Outcome.WRONG_ANSWER
        assert not is_met(flagged)
        assert AuditEntry.objects.filter(action="submission.decided").count() == 1

    @pytest.mark.parametrize("outcome", ["accepted", "not_gradable", None])
    def test_only_what_is_held_can_be_decided(
        self, submit: Submit, grader: User, outcome: str | None
    ) -> None:
        submission = submit()
        if outcome:
            worker.record_verdict(verdict(submission, outcome))
        with pytest.raises(NotDecidable):
            services.decide_flagged(submission, grader, "wrong_answer", REASON)

    @pytest.mark.parametrize(
        ("outcome", "reason", "field"),
        [
            ("flagged", REASON, "outcome"),
            ("time_limit", REASON, "outcome"),
            ("", REASON, "outcome"),
            ("accepted", " \n", "reason"),
            ("accepted", "a\0b", "reason"),
            ("accepted", "\ud800", "reason"),
            ("accepted", "x" * 1001, "reason"),
        ],
    )
    def test_a_decision_needs_an_outcome_and_a_reason(
        self, flagged: Submission, grader: User, outcome: str, reason: str, field: str
    ) -> None:
        with pytest.raises(DecisionRefused) as refused:
            services.decide_flagged(flagged, grader, outcome, reason)
        assert refused.value.field == field
        flagged.refresh_from_db()
        assert flagged.outcome == Outcome.FLAGGED

    def test_it_takes_the_right_to_change_submissions(
        self, flagged: Submission, learner: User, grader: User
    ) -> None:
        grader.user_permissions.remove(Permission.objects.get(codename="change_submission"))
        for user in (learner, User.objects.get(pk=grader.pk)):
            with pytest.raises(NotAllowed):
                services.decide_flagged(flagged, user, "accepted", REASON)


class TestLearnersPage:
    def test_it_says_that_a_grader_decided_and_why_but_not_who(
        self, client: Client, flagged: Submission, grader: User, learner: User
    ) -> None:
        client.force_login(learner)
        url = flagged.get_absolute_url() + "?fragment=1"
        held = client.get(url)
        assert "A grader looks at it" in held.content.decode()
        services.decide_flagged(flagged, grader, "accepted", REASON)
        decided = client.get(url, headers={"If-None-Match": held["ETag"]})
        text = decided.content.decode()
        assert f"Decided by a grader: {REASON}" in text
        assert "Accepted" in text
        assert "100 %" in text
        assert "It was held for review: The program forged the end." in text
        assert grader.username not in text.replace("by a grader", "")


class TestAdmin:
    @pytest.fixture
    def url(self, flagged: Submission) -> str:
        return reverse("admin:grader_submission_decide", args=[flagged.pk])

    def test_a_grader_decides_from_the_submissions_page(
        self, client: Client, flagged: Submission, grader: User, url: str
    ) -> None:
        client.force_login(grader)
        change = reverse("admin:grader_submission_change", args=[flagged.pk])
        assert url in client.get(change).content.decode()
        page = client.get(url).content.decode()
        assert "RMSNormScratch" in page
        assert "The program forged the end." in page
        response = client.post(url, {"outcome": "accepted", "reason": REASON})
        assert response["Location"] == change
        flagged.refresh_from_db()
        assert flagged.outcome == Outcome.ACCEPTED
        shown = client.get(change).content.decode()
        assert url not in shown
        assert REASON in shown

    def test_a_refused_decision_keeps_what_was_typed(
        self, client: Client, flagged: Submission, grader: User, url: str
    ) -> None:
        client.force_login(grader)
        for outcome in ("time_limit", ""):
            response = client.post(url, {"outcome": outcome, "reason": "keep me"})
            assert response.status_code == 200
            assert "keep me" in response.content.decode()
        flagged.refresh_from_db()
        assert flagged.outcome == Outcome.FLAGGED

    def test_a_late_decision_is_told_so(
        self, client: Client, flagged: Submission, grader: User, url: str
    ) -> None:
        services.decide_flagged(flagged, grader, "wrong_answer", REASON)
        client.force_login(grader)
        for response in (
            client.get(url, follow=True),
            client.post(url, {"outcome": "accepted", "reason": REASON}, follow=True),
        ):
            assert "not held for review" in response.content.decode()
        flagged.refresh_from_db()
        assert flagged.outcome == Outcome.WRONG_ANSWER

    def test_those_who_may_only_look_get_no_form(
        self, client: Client, flagged: Submission, grader: User, url: str
    ) -> None:
        grader.user_permissions.remove(Permission.objects.get(codename="change_submission"))
        client.force_login(grader)
        change = reverse("admin:grader_submission_change", args=[flagged.pk])
        assert url not in client.get(change).content.decode()
        assert client.get(url).status_code == 403
        assert client.post(url, {"outcome": "accepted", "reason": REASON}).status_code == 403


class TestApi:
    BODY = {"outcome": "accepted", "reason": REASON}

    @pytest.fixture
    def url(self, flagged: Submission) -> str:
        return f"{ROOT}/submissions/{flagged.public_id}/decision/"

    def test_a_grader_decides_with_the_scope_to_grade(
        self, api: Api, flagged: Submission, grader: User, learner: User, url: str
    ) -> None:
        assert_problem(api(grader, "read", "submit").post(url, self.BODY, format="json"), 403)
        answer = api(grader, "grade").post(url, self.BODY, format="json")
        assert answer.status_code == 200
        body: dict[str, Any] = api(learner).get(url.removesuffix("decision/")).json()
        assert (body["outcome"], body["score"]) == ("accepted", 1.0)
        assert body["message"] == f"Decided by a grader: {REASON}"
        assert body["decision"]["reason"] == REASON
        again = api(grader, "grade").post(url, self.BODY, format="json")
        assert_problem(again, 409, "not_flagged")

    def test_learners_do_not(
        self, api: Api, client: Client, learner: User, other: User, url: str, flagged: Submission
    ) -> None:
        assert_problem(api(learner, "read", "submit").post(url, self.BODY, format="json"), 403)
        for user, status in ((learner, 403), (other, 404)):
            client.force_login(user)
            response = client.post(url, self.BODY, content_type="application/json")
            assert_problem(response, status)
        flagged.refresh_from_db()
        assert flagged.outcome == Outcome.FLAGGED

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"outcome": "flagged"}, "outcome"),
            ({"outcome": None}, "outcome"),
            ({"reason": " "}, "reason"),
            ({"reason": "x" * 1001}, "reason"),
            ({"reason": 5}, "reason"),
        ],
    )
    def test_bad_decisions(
        self, api: Api, grader: User, url: str, change: dict[str, Any], field: str
    ) -> None:
        response = api(grader, "grade").post(url, {**self.BODY, **change}, format="json")
        assert field in assert_problem(response, 400)["errors"]
