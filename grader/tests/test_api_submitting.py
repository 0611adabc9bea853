from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile

from grader.models import Exercise, Submission
from grader.tests.calls import ROOT, Api, assert_problem
from grader.tests.conftest import SOURCE, FakeBroker
from grader.tests.test_submit import BAD_SOURCES


class TestSubmitting:
    URL = f"{ROOT}/exercises/rmsnorm/submissions/"

    @pytest.mark.parametrize("field", ["file", "source"])
    def test_a_file_upload(self, api: Api, learner: User, exercise: Exercise, field: str) -> None:
        upload = SimpleUploadedFile("a.py", b"x = 1\r\n")
        response = api(learner).post(self.URL, {"track": "numpy", field: upload})
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
            b'{"track": "numpy", "source": "x", "source": "y"}',
            b'{"track": "numpy", "source": ' + b"9" * 5_000 + b"}",
        ],
    )
    def test_bodies_that_cannot_be_used(
        self, api: Api, learner: User, exercise: Exercise, body: bytes
    ) -> None:
        response = api(learner).post(self.URL, body, content_type="application/json")
        assert_problem(response, 400)
        assert not Submission.objects.exists()

    @pytest.mark.parametrize(
        ("body", "said"),
        [
            (b'{"track": "a", "track": "b"}', "The field “track” stands twice"),
            (b'{"track": ' + b"9" * 5_000 + b"}", "has 5000 digits; at most 300"),
        ],
    )
    def test_a_body_that_is_refused_says_why(
        self, api: Api, learner: User, exercise: Exercise, body: bytes, said: str
    ) -> None:
        response = api(learner).post(self.URL, body, content_type="application/json")
        assert said in assert_problem(response, 400)["detail"]

    def test_a_misspelt_field_is_named(self, api: Api, learner: User, exercise: Exercise) -> None:
        body = {"track": "numpy", "source": SOURCE, "idempotency_key": "x"}
        for form in ("json", "multipart"):
            problem = assert_problem(api(learner).post(self.URL, body, format=form), 400, "invalid")
            assert "There is no such field" in problem["errors"]["idempotency_key"][0]
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
