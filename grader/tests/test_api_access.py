from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from grader import services
from grader.models import ApiToken, AuditEntry, Exercise, Submission
from grader.tests.calls import ROOT, Api, Submit, assert_problem, basic
from grader.tests.conftest import SOURCE
from grader.tests.messages import attempt_of


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

    def test_no_answer_holds_the_lease(
        self, api: Api, submit: Submit, grader: User, learner: User
    ) -> None:
        submission = submit()
        lease = attempt_of(submission).lease
        for user, scopes in ((learner, ("read",)), (grader, ("read", "grade"))):
            client = api(user, *scopes)
            client.force_login(user)
            for url in (
                f"{ROOT}/submissions/",
                f"{ROOT}/submissions/{submission.public_id}/",
                submission.get_absolute_url(),
            ):
                assert lease not in client.get(url).content.decode()

    def test_a_grader_reads_all_with_the_scope_to_read(
        self, api: Api, submit: Submit, grader: User
    ) -> None:
        submission = submit()
        url = f"{ROOT}/submissions/{submission.public_id}/"
        client = api(grader, "read")
        assert client.get(url).status_code == 200
        assert client.get(f"{url}source").content == SOURCE.encode()
        listed = client.get(f"{ROOT}/submissions/").json()["results"]
        assert [row["id"] for row in listed] == [submission.public_id]
        assert_problem(api(grader, "submit").get(url), 403)

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
        answer = api(learner, "submit").post(self.URL, body, format="json")
        assert "user name and password" in assert_problem(answer, 401)["detail"]
        assert answer["WWW-Authenticate"].startswith("Basic")
        assert ApiToken.objects.count() == 1

    def test_last_use_is_kept(self, api: Api, learner: User) -> None:
        api(learner).get(f"{ROOT}/submissions/")
        assert ApiToken.objects.get().last_used_at is not None

    @pytest.mark.parametrize(
        "body",
        [
            {"name": "x", "scopes": []},
            {"name": "x", "scopes": ["read"], "expires": "2100-01-01T00:00:00Z"},
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

    def test_wrong_guesses_elsewhere_keep_nobody_out(self, client: Client, learner: User) -> None:
        for _ in range(12):
            client.get(self.URL, headers=basic("learner", "wrong"), REMOTE_ADDR="10.0.0.66")
        mine = basic("learner", "learner-password")
        assert client.get(self.URL, headers=mine, REMOTE_ADDR="10.0.0.7").status_code == 200
        assert_problem(client.get(self.URL, headers=mine, REMOTE_ADDR="10.0.0.66"), 429)
        # The header is anybody's to send: it makes no other address.
        spoofed = {**mine, "X-Forwarded-For": "10.0.0.7"}
        assert_problem(client.get(self.URL, headers=spoofed, REMOTE_ADDR="10.0.0.66"), 429)

    def test_guessing_many_names_from_one_address_is_slowed_down(
        self, client: Client, learner: User, settings: Any
    ) -> None:
        settings.WRONG_PASSWORDS_PER_FIVE_MINUTES = 5
        for number in range(5):
            assert_problem(client.get(self.URL, headers=basic(f"name-{number}", "wrong")), 401)
        mine = basic("learner", "learner-password")
        assert_problem(client.get(self.URL, headers=mine), 429)
        assert client.get(self.URL, headers=mine, REMOTE_ADDR="10.0.0.7").status_code == 200

    # The last one is a name with a NUL, which PostgreSQL refuses.
    @pytest.mark.parametrize(
        "header", ["Basic", "Basic !", "Basic a b", "Basic /w==", "Basic YQBiOmM="]
    )
    def test_malformed_basic_credentials(self, client: Client, db: None, header: str) -> None:
        assert_problem(client.get(self.URL, headers={"Authorization": header}), 401)
