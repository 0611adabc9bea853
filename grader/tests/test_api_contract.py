from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from grader.api import schema
from grader.models import Exercise
from grader.tests.calls import ROOT, Api, Submit, assert_problem, basic
from grader.tests.conftest import SOURCE
from grader.tests.messages import verdict, worker

CONTRACT = Path(__file__).parent / "contract"


def assert_contract(name: str, body: Any) -> None:
    """Compare with the checked-in answer, after replacing what differs from run to run."""
    text = json.dumps(body, indent=2, ensure_ascii=False, sort_keys=True)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>", text)
    text = re.sub(r"(?<=[\"/])[a-z2-9]{16}(?=[\"/])", "<id>", text)
    text = re.sub(r"lml_[\w-]+", "<token>", text) + "\n"
    assert (CONTRACT / f"{name}.json").read_text(encoding="utf-8") == text


class TestContract:
    """Answers that clients rely on, checked in as files."""

    def test_token(self, client: Client, learner: User) -> None:
        response = client.post(
            f"{ROOT}/tokens/",
            {"name": "laptop", "scopes": ["submit", "read"]},
            content_type="application/json",
            headers=basic("learner", "learner-password"),
        )
        assert response.status_code == 201
        assert_contract("token", response.json())

    def test_submission_accepted_for_grading(self, api: Api, learner: User, exercise: Any) -> None:
        body = {"track": "numpy", "source": SOURCE}
        url = f"{ROOT}/exercises/rmsnorm/submissions/"
        response = api(learner).post(url, body, format="json")
        assert response.status_code == 202
        assert response["Location"] == response.json()["links"]["self"]
        assert_contract("submission_queued", response.json())

    def test_submission_with_its_report(self, api: Api, learner: User, submit: Submit) -> None:
        submission = submit()
        worker.record_verdict(verdict(submission, "wrong_answer"))
        response = api(learner).get(f"{ROOT}/submissions/{submission.public_id}/")
        assert_contract("submission_finished", response.json())

    def test_list_of_submissions(self, api: Api, learner: User, submit: Submit) -> None:
        worker.record_verdict(verdict(submit()))
        response = api(learner).get(
            f"{ROOT}/submissions/?exercise=rmsnorm&state=finished&page_size=50"
        )
        assert_contract("submissions", response.json())

    def test_exercise(self, api: Api, exercise: Exercise) -> None:
        body = api().get(f"{ROOT}/exercises/rmsnorm/").json()
        # The engine's own words may grow; the shape is the contract.
        shape = {key: type(value).__name__ for key, value in body.items()}
        shape["groups"] = sorted(body["groups"][0])
        assert sum(group["weight"] for group in body["groups"]) == pytest.approx(1.0)
        assert body["tracks"][0] in body["starters"]
        assert body["limits"] == body["limits_by_track"]["numpy"]
        assert body["limits_by_track"]["cupy"]["wall_seconds"] == 20
        assert_contract("exercise_shape", shape)

    def test_problem(self, api: Api, learner: User, exercise: Exercise) -> None:
        url = f"{ROOT}/exercises/rmsnorm/submissions/"
        response = api(learner).post(url, {"source": 5}, format="json")
        assert_contract("problem", assert_problem(response, 400, "invalid"))


class TestProblems:
    def test_every_kind_of_error_is_a_problem_document(self, api: Api, learner: User) -> None:
        client = api(learner)
        assert_problem(client.get(f"{ROOT}/nothing/here/"), 404, "not_found")
        assert_problem(client.get(f"{ROOT}/submissions/malformed!/"), 404, "not_found")
        assert_problem(client.get(f"{ROOT}/submissions/{'a' * 16}/"), 404, "not_found")
        assert_problem(client.get(f"{ROOT}/exercises/nothing/"), 404)
        gone = assert_problem(client.delete(f"{ROOT}/exercises/"), 405)
        assert "It takes GET, HEAD and OPTIONS." in gone["detail"]
        answer = client.get(f"{ROOT}/exercises/", headers={"Accept": "image/png"})
        assert "does not give: application/json." in assert_problem(answer, 406)["detail"]
        unknown = assert_problem(api().get(f"{ROOT}/submissions/"), 401)
        assert "Send the header `Authorization: Token ...`" in unknown["detail"]
        unknown = assert_problem(api().get(f"{ROOT}/tokens/"), 401)
        assert "HTTP Basic" in unknown["detail"]

    def test_the_first_page_leads_to_all_others(self, client: Client, exercise: Exercise) -> None:
        links = client.get(f"{ROOT}/").json()
        methods = links.pop("methods")
        assert (methods["runs"], methods["regrades"]) == (["POST"], ["GET", "POST"])
        assert (methods.keys(), methods["docs"]) == (links.keys(), ["GET"])
        assert set(links) == {path.split("/")[3] for path in schema.generate()["paths"]} - {""} | {
            "schema",
            "docs",
        }
        for name in ("chapters", "exercises", "schema", "docs"):
            assert client.get(links[name]).status_code == 200

    def test_an_unknown_media_type_is_415(
        self, api: Api, learner: User, exercise: Exercise
    ) -> None:
        url = f"{ROOT}/exercises/rmsnorm/submissions/"
        answer = api(learner).post(url, b"<a/>", content_type="application/xml")
        detail = assert_problem(answer, 415)["detail"]
        assert "Send application/json or multipart/form-data." in detail

    def test_throttling_says_when_to_come_back(
        self, client: Client, exercise: Exercise, settings: Any
    ) -> None:
        rates = {"anonymous": "2/min", "user": "2/min"}
        settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "DEFAULT_THROTTLE_RATES": rates}
        for _ in range(2):
            assert client.get(f"{ROOT}/exercises/").status_code == 200
        # The header is anybody's to send; it buys no further requests.
        response = client.get(f"{ROOT}/exercises/", headers={"X-Forwarded-For": "10.9.8.7"})
        assert_problem(response, 429, "throttled")
        assert 0 < int(response["Retry-After"]) <= 60

    @pytest.mark.parametrize(
        "query",
        [
            "state=lost",
            "outcome=good",
            "track=abacus",
            "exercise=a%00b",
            # What a sentence repeats may look like a format.
            "exercise=%25s",
            "exercise=100%25%28x%29d",
            "learner=%00",
            "score_min=nan",
            "score_min=1e999",
            "score_max=-1",
            "score_max=text",
            "created_after=yesterday",
            "created_after=0001-01-01T00:00:00%2B14:00",
            "created_before=9999-12-31T23:59:59-14:00",
            "ordering=source",
            "page_size=0",
            "page_size=201",
            "page_size=²",
            "cursor=nonsense",
            "cursor=%00",
            "cursor=W10",
            # As cursors were made before: with the number of the row.
            "cursor=WyItY3JlYXRlZF9hdCIsICIyMDI2LTAxLTAxVDAwOjAwOjAwKzAwOjAwIiwgNSwgZmFsc2Vd",
            "exercise_slug=rmsnorm",
        ],
    )
    def test_filters_that_cannot_be_used(self, api: Api, learner: User, query: str) -> None:
        body = assert_problem(api(learner).get(f"{ROOT}/submissions/?{query}"), 400, "invalid")
        assert query.split("=")[0] in body["errors"]

    @pytest.mark.parametrize("name", ["created_after", "created_before"])
    @pytest.mark.parametrize(
        ("time", "says"),
        [
            ("2026-11-30T14:00:00", "This time has no zone. Write a time as 2026-11-30T14:00:00Z,"),
            ("2026-11-30", "This time has no zone."),
            # A plus sign that was not encoded.
            ("2026-11-30T14:00:00 01:00", "in an address + is written %2B"),
            ("2026-02-30T14:00:00Z", "There is no such time."),
        ],
    )
    def test_a_time_without_a_zone_is_refused_with_an_example(
        self, api: Api, grader: User, name: str, time: str, says: str
    ) -> None:
        graders = api(grader, "read", "grade")
        listed = assert_problem(graders.get(f"{ROOT}/submissions/", {name: time}), 400, "invalid")
        assert says in listed["errors"][name][0]
        body = {"dry_run": True, "filter": {name: time}}
        asked = graders.post(f"{ROOT}/regrades/", body, format="json")
        assert says in assert_problem(asked, 400)["errors"][f"filter.{name}"][0]

    def test_a_tokens_end_has_a_zone_too(self, api: Api, learner: User, client: Client) -> None:
        body = {"name": "laptop", "scopes": ["read"], "expires_at": "2026-12-31T00:00:00"}
        headers = basic("learner", "learner-password")
        answer = client.post(
            f"{ROOT}/tokens/", body, content_type="application/json", headers=headers
        )
        (text,) = assert_problem(answer, 400)["errors"]["expires_at"]
        assert "no zone" in text
        assert "which is UTC" in text


class TestDetail:
    def test_an_etag_saves_the_body_until_something_changes(
        self, api: Api, learner: User, submit: Submit
    ) -> None:
        submission, client = submit(), api(learner)
        url = f"{ROOT}/submissions/{submission.public_id}/"
        etag = client.get(url)["ETag"]
        same = client.get(url, headers={"If-None-Match": etag})
        assert (same.status_code, same.content) == (304, b"")
        for tags in ("*", f'"other", W/{etag}'):
            assert client.get(url, headers={"If-None-Match": tags}).status_code == 304
        assert client.get(url, headers={"If-None-Match": '"other"'}).status_code == 200
        worker.record_verdict(verdict(submission))
        changed = client.get(url, headers={"If-None-Match": etag})
        assert changed.json()["outcome"] == "accepted"
        assert changed["ETag"] != etag

    def test_resubmitting(self, api: Api, learner: User, submit: Submit) -> None:
        submission, client = submit(), api(learner)
        url = f"{ROOT}/submissions/{submission.public_id}/resubmit/"
        assert_problem(client.post(url), 409, "not_resubmittable")
        worker.record_verdict(verdict(submission, "not_gradable"))
        assert client.get(url.removesuffix("resubmit/")).json()["counts_as_attempt"] is False
        assert client.post(url).json()["state"] == "queued"
