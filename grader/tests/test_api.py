from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from grader import services, tasks
from grader.models import ApiToken, AuditEntry, Exercise, Submission
from grader.tests.conftest import SOURCE, FakeBroker
from grader.tests.messages import verdict
from grader.tests.test_submit import BAD_SOURCES

Api = Callable[..., APIClient]
Submit = Callable[..., Submission]
CONTRACT = Path(__file__).parent / "contract"
ROOT = "/api/v1"


def basic(name: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}


def assert_problem(response: Any, status: int, code: str = "") -> dict[str, Any]:
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = json.loads(response.content)
    assert body["status"] == status
    assert {"type", "title", "status", "detail"} <= body.keys()
    assert body["detail"]
    if code:
        assert body["code"] == code
    return body


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
        tasks.record_verdict(verdict(submission, "wrong_answer"))
        response = api(learner).get(f"{ROOT}/submissions/{submission.public_id}/")
        assert_contract("submission_finished", response.json())

    def test_list_of_submissions(self, api: Api, learner: User, submit: Submit) -> None:
        tasks.record_verdict(verdict(submit()))
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
        assert_contract("exercise_shape", shape)

    def test_problem(self, api: Api, learner: User, exercise: Exercise) -> None:
        url = f"{ROOT}/exercises/rmsnorm/submissions/"
        response = api(learner).post(url, {"source": 5}, format="json")
        assert_contract("problem", assert_problem(response, 400, "invalid"))


class TestSubmitting:
    URL = f"{ROOT}/exercises/rmsnorm/submissions/"

    def test_a_file_upload(self, api: Api, learner: User, exercise: Exercise) -> None:
        upload = SimpleUploadedFile("a.py", b"x = 1\r\n")
        response = api(learner).post(self.URL, {"track": "numpy", "file": upload})
        assert response.status_code == 202
        assert Submission.objects.get().source == "x = 1\r\n"

    @pytest.mark.parametrize(
        ("source", "kind"),
        [(row[1], row[2]) for row in BAD_SOURCES],
        ids=[r[0] for r in BAD_SOURCES],
    )
    def test_bad_sources_are_refused(
        self, api: Api, learner: User, exercise: Exercise, source: Any, kind: Any
    ) -> None:
        client = api(learner)
        if isinstance(source, bytes):
            response = client.post(
                self.URL, {"track": "numpy", "file": SimpleUploadedFile("a.py", source)}
            )
        else:
            body = json.dumps({"track": "numpy", "source": source})
            response = client.post(self.URL, body, content_type="application/json")
        code = "body_too_large" if len(source) > 1_000_000 else kind.code
        assert_problem(response, kind.status, code)
        assert not Submission.objects.exists()

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"{",
            b"[]",
            b"null",
            b'"text"',
            b"\xff\xfe",
            b'{"track": "numpy", "source": "caf\xe9"}',
            b'{"track": "numpy", "source": NaN}',
            b'{"track": "numpy"}',
            b'{"track": null, "source": null}',
            b'{"track": ["numpy"], "source": {"a": 1}}',
            b'{"track": "num\\u0000py", "source": "x"}',
            b'{"track": "torch", "source": "x = 1"}',
            b"[" * 100_000,
        ],
    )
    def test_bodies_that_cannot_be_used(
        self, api: Api, learner: User, exercise: Exercise, body: bytes
    ) -> None:
        response = api(learner).post(self.URL, body, content_type="application/json")
        assert_problem(response, 400)
        assert not Submission.objects.exists()

    @pytest.mark.parametrize("charset", ["utf-16", "hex", "bz2", "no-such-charset"])
    def test_a_charset_is_not_believed(
        self, api: Api, learner: User, exercise: Exercise, charset: str
    ) -> None:
        body = json.dumps({"track": "numpy", "source": SOURCE}).encode()
        response = api(learner).post(
            self.URL, body, content_type=f"application/json; charset={charset}"
        )
        assert response.status_code == 202

    def test_a_broken_form_is_a_problem(self, api: Api, learner: User, exercise: Exercise) -> None:
        for content_type in ("multipart/form-data", "multipart/form-data; boundary=x"):
            response = api(learner).post(self.URL, b"--y\r\n", content_type=content_type)
            assert_problem(response, 400)

    def test_the_same_key_is_one_submission_and_other_content_a_conflict(
        self, api: Api, learner: User, exercise: Exercise
    ) -> None:
        client, headers = api(learner), {"Idempotency-Key": "build-7"}
        body = {"track": "numpy", "source": SOURCE}
        first = client.post(self.URL, body, format="json", headers=headers).json()
        again = client.post(self.URL, body, format="json", headers=headers)
        assert (again.status_code, again.json()["id"]) == (202, first["id"])
        changed = {**body, "source": "x = 2"}
        conflict = client.post(self.URL, changed, format="json", headers=headers)
        assert_problem(conflict, 409, "idempotency_key_reused")

    def test_too_many_is_429_with_retry_after(
        self, api: Api, learner: User, exercise: Exercise, settings: Any
    ) -> None:
        settings.GRADING = {**settings.GRADING, "MAX_OPEN_SUBMISSIONS_PER_LEARNER": 1}
        client, body = api(learner), {"track": "numpy", "source": SOURCE}
        assert client.post(self.URL, body, format="json").status_code == 202
        response = client.post(self.URL, body, format="json")
        assert_problem(response, 429, "too_many_submissions")
        assert int(response["Retry-After"]) > 0

    @pytest.mark.django_db(transaction=True)
    def test_a_queue_that_is_down_is_no_error(
        self, api: Api, learner: User, exercise: Exercise, broker: FakeBroker
    ) -> None:
        broker.down = True
        response = api(learner).post(self.URL, {"track": "numpy", "source": SOURCE}, format="json")
        assert response.status_code == 202
        assert "your submission is kept" in response.json()["message"]

    def test_closed_and_unknown_exercises(
        self, api: Api, learner: User, exercise: Exercise
    ) -> None:
        body = {"track": "numpy", "source": SOURCE}
        Exercise.objects.update(accepts_submissions=False)
        response = api(learner).post(self.URL, body, format="json")
        assert_problem(response, 409, "exercise_closed")
        response = api(learner).post(f"{ROOT}/exercises/none/submissions/", body, format="json")
        assert_problem(response, 404)


class TestWhoMayWhat:
    def test_a_learner_finds_no_trace_of_others(
        self, api: Api, submit: Submit, learner: User, other: User
    ) -> None:
        submission = submit()
        url = f"{ROOT}/submissions/{submission.public_id}/"
        etag = api(learner).get(url)["ETag"]
        stranger = api(other)
        for address in (url, f"{url}source"):
            response = stranger.get(address, headers={"If-None-Match": etag})
            assert_problem(response, 404)
            assert "ETag" not in response.headers
        assert_problem(stranger.post(f"{url}resubmit/"), 404)
        assert stranger.get(f"{ROOT}/submissions/").json()["results"] == []
        mine = stranger.get(f"{ROOT}/submissions/?learner=learner").json()
        assert mine["results"] == []

    def test_a_grader_sees_all_but_only_with_the_scope(
        self, api: Api, submit: Submit, grader: User
    ) -> None:
        submission = submit()
        url = f"{ROOT}/submissions/{submission.public_id}/"
        assert api(grader, "read", "grade").get(url).status_code == 200
        assert api(grader, "read", "grade").get(f"{url}source").content == SOURCE.encode()
        assert_problem(api(grader, "read").get(url), 404)
        assert api(grader, "read").get(f"{ROOT}/submissions/").json()["results"] == []

    def test_a_token_does_only_what_its_scopes_say(
        self, api: Api, learner: User, exercise: Exercise
    ) -> None:
        url = f"{ROOT}/exercises/rmsnorm/submissions/"
        body = {"track": "numpy", "source": SOURCE}
        response = api(learner, "read").post(url, body, format="json")
        assert_problem(response, 403, "permission_denied")
        assert "submit" in response.json()["detail"]
        assert_problem(api(learner, "submit").get(f"{ROOT}/submissions/"), 403)
        assert not Submission.objects.exists()

    def test_a_grader_who_is_one_no_more_sees_only_own(
        self, api: Api, submit: Submit, grader: User
    ) -> None:
        client = api(grader, "read", "grade")
        submission = submit()
        grader.user_permissions.clear()
        assert_problem(client.get(f"{ROOT}/submissions/{submission.public_id}/"), 404)
        assert client.get(f"{ROOT}/submissions/").json()["results"] == []

    def test_workers_are_for_graders(self, api: Api, grader: User, learner: User) -> None:
        assert_problem(api(learner).get(f"{ROOT}/workers/"), 403)
        body = api(grader, "grade").get(f"{ROOT}/workers/").json()
        assert [queue["name"] for queue in body["queues"]] == ["cpu", "gpu"]

    def test_without_a_token(self, client: Client, exercise: Exercise) -> None:
        response = client.get(f"{ROOT}/submissions/")
        assert_problem(response, 401)
        assert response["WWW-Authenticate"] == "Token"
        assert client.get(f"{ROOT}/exercises/").status_code == 200
        assert client.get(f"{ROOT}/chapters/").json() == []

    @pytest.mark.parametrize("header", ["Token", "Token a b", "Token \xe9", "Token nonsense"])
    def test_a_bad_token_is_refused_even_where_none_is_needed(
        self, client: Client, exercise: Exercise, header: str
    ) -> None:
        response = client.get(f"{ROOT}/exercises/", headers={"Authorization": header})
        assert_problem(response, 401)

    def test_a_browsers_session_reads_and_needs_csrf_to_write(
        self, learner: User, exercise: Exercise
    ) -> None:
        client = APIClient(enforce_csrf_checks=True)
        client.force_login(learner)
        assert client.get(f"{ROOT}/submissions/").status_code == 200
        body = {"track": "numpy", "source": SOURCE}
        response = client.post(f"{ROOT}/exercises/rmsnorm/submissions/", body, format="json")
        assert_problem(response, 403)


class TestTokens:
    URL = f"{ROOT}/tokens/"

    def test_list_and_revoke_ones_own(self, client: Client, learner: User, other: User) -> None:
        row, token = services.create_token(learner, "laptop", ["read"])
        foreign, _ = services.create_token(other, "theirs", ["read"])
        me = basic("learner", "learner-password")
        listed = client.get(self.URL, headers=me)
        assert [item["id"] for item in listed.json()] == [row.public_id]
        assert token not in listed.content.decode()
        assert client.delete(f"{self.URL}{foreign.public_id}/", headers=me).status_code == 404
        assert client.delete(f"{self.URL}{row.public_id}/", headers=me).status_code == 204
        used = client.get(f"{ROOT}/submissions/", headers={"Authorization": f"Token {token}"})
        assert_problem(used, 401)

    def test_a_token_makes_no_tokens(self, api: Api, learner: User) -> None:
        body = {"name": "more", "scopes": ["read"]}
        assert_problem(api(learner, "submit").post(self.URL, body, format="json"), 401)
        assert ApiToken.objects.count() == 1

    def test_last_use_is_kept(self, api: Api, learner: User) -> None:
        api(learner).get(f"{ROOT}/submissions/")
        assert ApiToken.objects.get().last_used_at is not None

    @pytest.mark.parametrize(
        "body",
        [
            {"name": "x", "scopes": []},
            {"name": "x", "scopes": ["everything"]},
            {"name": "x", "scopes": ["\ud800"]},
            {"name": "x", "scopes": ["grade"]},
            {"name": "", "scopes": ["read"]},
            {"name": "a\0b", "scopes": ["read"]},
            {"name": "\ud800", "scopes": ["read"]},
            {"name": "x" * 101, "scopes": ["read"]},
            {"name": "x", "scopes": ["read"], "expires_at": "2001-01-01T00:00:00Z"},
            {"name": "x", "scopes": ["read"], "expires_at": "9999-12-31T23:59:59Z"},
            {"name": "x", "scopes": ["read"], "expires_at": "0001-01-01T00:00:00+14:00"},
        ],
    )
    def test_bad_wishes(self, client: Client, learner: User, body: dict[str, Any]) -> None:
        response = client.post(
            self.URL,
            json.dumps(body),
            content_type="application/json",
            headers=basic("learner", "learner-password"),
        )
        assert_problem(response, 400)
        assert not AuditEntry.objects.exists()

    def test_guessing_passwords_is_slowed_down(self, client: Client, learner: User) -> None:
        for _ in range(10):
            assert_problem(client.get(self.URL, headers=basic("learner", "wrong")), 401)
        response = client.get(self.URL, headers=basic("learner", "learner-password"))
        assert_problem(response, 429)
        assert int(response["Retry-After"]) > 0

    @pytest.mark.parametrize("header", ["Basic", "Basic !", "Basic a b", "Basic /w=="])
    def test_malformed_basic_credentials(self, client: Client, db: None, header: str) -> None:
        assert_problem(client.get(self.URL, headers={"Authorization": header}), 401)


class TestProblems:
    def test_every_kind_of_error_is_a_problem_document(self, api: Api, learner: User) -> None:
        client = api(learner)
        assert_problem(client.get(f"{ROOT}/nothing/here/"), 404)
        assert_problem(client.get(f"{ROOT}/exercises/nothing/"), 404)
        assert_problem(client.delete(f"{ROOT}/exercises/"), 405)
        assert_problem(client.get(f"{ROOT}/exercises/", headers={"Accept": "image/png"}), 406)

    def test_an_unknown_media_type_is_415(
        self, api: Api, learner: User, exercise: Exercise
    ) -> None:
        url = f"{ROOT}/exercises/rmsnorm/submissions/"
        assert_problem(api(learner).post(url, b"<a/>", content_type="application/xml"), 415)

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
            "exercise_slug=rmsnorm",
        ],
    )
    def test_filters_that_cannot_be_used(self, api: Api, learner: User, query: str) -> None:
        body = assert_problem(api(learner).get(f"{ROOT}/submissions/?{query}"), 400, "invalid")
        assert query.split("=")[0] in body["errors"]


class TestDetail:
    def test_an_etag_saves_the_body_until_something_changes(
        self, api: Api, learner: User, submit: Submit
    ) -> None:
        submission, client = submit(), api(learner)
        url = f"{ROOT}/submissions/{submission.public_id}/"
        etag = client.get(url)["ETag"]
        same = client.get(url, headers={"If-None-Match": etag})
        assert (same.status_code, same.content) == (304, b"")
        tasks.record_verdict(verdict(submission))
        changed = client.get(url, headers={"If-None-Match": etag})
        assert changed.json()["outcome"] == "accepted"
        assert changed["ETag"] != etag

    def test_resubmitting(self, api: Api, learner: User, submit: Submit) -> None:
        submission, client = submit(), api(learner)
        url = f"{ROOT}/submissions/{submission.public_id}/resubmit/"
        assert_problem(client.post(url), 409, "not_resubmittable")
        tasks.record_verdict(verdict(submission, "not_gradable"))
        assert client.get(url.removesuffix("resubmit/")).json()["counts_as_attempt"] is False
        assert client.post(url).json()["state"] == "queued"


class TestList:
    @pytest.fixture
    def many(self, submit: Submit, learner: User, exercise: Exercise) -> list[str]:
        now = timezone.now()
        rows = [
            Submission(
                user=learner,
                exercise=exercise,
                track="numpy",
                source="x",
                source_sha256="0" * 64,
                source_bytes=1,
                state="finished" if n % 3 else "queued",
                outcome=("accepted", "wrong_answer")[n % 2] if n % 3 else None,
                score=(n % 2 / 2 + 0.1) if n % 3 else None,
                finished_at=now if n % 3 else None,
            )
            for n in range(23)
        ]
        Submission.objects.bulk_create(rows)
        # Ties in time are what a careless order loses rows at.
        Submission.objects.update(created_at=now - timedelta(minutes=1))
        return [row.public_id for row in rows]

    @pytest.mark.parametrize(
        "ordering",
        [
            "-created_at",
            "created_at",
            "-score",
            "score",
            "-finished_at",
            "finished_at",
            "-id",
            "id",
        ],
    )
    def test_paging_while_others_insert_loses_and_repeats_nothing(
        self, api: Api, learner: User, exercise: Exercise, many: list[str], ordering: str
    ) -> None:
        client = api(learner)
        url: str | None = f"{ROOT}/submissions/?page_size=4&ordering={ordering}"
        seen: list[str] = []
        pages: list[list[str]] = []
        while url:
            body = client.get(url).json()
            pages.append([row["id"] for row in body["results"]])
            seen += pages[-1]
            before, url = body["previous"], body["next"]
            if len(pages) == 2:
                Submission.objects.create(
                    user=learner,
                    exercise=exercise,
                    track="numpy",
                    source="x",
                    source_sha256="0" * 64,
                    source_bytes=1,
                )
        assert len(seen) == len(set(seen))
        assert set(many) <= set(seen)
        backwards = pages[-1:]
        while before:
            body = client.get(before).json()
            backwards.insert(0, [row["id"] for row in body["results"]])
            before = body["previous"]
        again = [row for page in backwards for row in page]
        assert [row for row in again if row in seen] == seen

    def test_scores_are_ordered_with_the_unscored_last(
        self, api: Api, learner: User, many: list[str]
    ) -> None:
        body = api(learner).get(f"{ROOT}/submissions/?ordering=-score&page_size=200").json()
        scores = [row["score"] for row in body["results"]]
        scored = [score for score in scores if score is not None]
        assert scored == sorted(scored, reverse=True)
        assert scores[len(scored) :] == [None] * (len(scores) - len(scored))

    @pytest.mark.parametrize(
        ("query", "count"),
        [
            ("exercise=rmsnorm", 23),
            ("exercise=layernorm", 0),
            ("track=numpy", 23),
            ("track=cupy", 0),
            ("learner=learner", 23),
            ("state=queued", 8),
            ("outcome=accepted", 8),
            ("score_min=0.5", 7),
            ("score_max=0.5", 8),
            ("created_after=2100-01-01T00:00:00Z", 0),
            ("created_before=2100-01-01T00:00:00Z", 23),
        ],
    )
    def test_filters(
        self, api: Api, learner: User, many: list[str], query: str, count: int
    ) -> None:
        body = api(learner).get(f"{ROOT}/submissions/?page_size=200&{query}").json()
        assert len(body["results"]) == count

    def test_the_number_of_queries_is_constant(
        self, api: Api, grader: User, many: list[str], django_assert_num_queries: Any
    ) -> None:
        client = api(grader, "read", "grade")
        client.get(f"{ROOT}/submissions/?page_size=2")
        for size in (2, 20):
            with django_assert_num_queries(4):
                client.get(f"{ROOT}/submissions/?page_size={size}")

    def test_a_cursor_of_another_order_is_refused(
        self, api: Api, learner: User, many: list[str]
    ) -> None:
        client = api(learner)
        link = client.get(f"{ROOT}/submissions/?page_size=4&ordering=-score").json()["next"]
        assert_problem(client.get(link.replace("ordering=-score", "ordering=score")), 400)
