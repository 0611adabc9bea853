"""Runs over REST: a file, a listing, an exercise's public cases."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from courses.models import Chapter, ChapterRevision
from grader.api.runs import RunSerializer
from grader.models import CodeRun, Exercise, Submission
from grader.tests.messages import worker

from .calls import ROOT, Api, Submit, assert_problem
from .conftest import SOURCE, FakeBroker

pytestmark = pytest.mark.django_db
URL = f"{ROOT}/runs/"
Post = Callable[..., Any]


@pytest.fixture
def post(api: Api, learner: User, django_capture_on_commit_callbacks: Any) -> Post:
    """Ask for a run as the learner, with the sending done."""
    client = api(learner)

    def call(body: dict[str, Any], form: str = "json") -> Any:
        with django_capture_on_commit_callbacks(execute=True):
            return client.post(URL, body, format=form)

    return call


def answer(outcome: str = "completed", **report: Any) -> None:
    """Answer the run as a worker would."""
    run = CodeRun.objects.get()
    message = {"version": 1, "run": run.public_id, "lease": run.lease, "node": "node-1"}
    worker.record_run({**message, "outcome": outcome, "report": report})


def test_a_program_is_run_and_its_output_read(
    post: Post, api: Api, learner: User, broker: FakeBroker
) -> None:
    response = post({"source": "print('hello')"})
    assert response.status_code == 202
    body = response.json()
    assert set(body) == set(RunSerializer().fields)
    assert response["Location"] == body["links"]["self"]
    assert (body["kind"], body["state"], body["report"]) == ("code", "queued", None)
    assert broker.runs[0]["source"] == "print('hello')"
    answer(output="hello\n")
    done = api(learner).get(body["links"]["self"])
    assert done["Cache-Control"] == "private, no-store"
    assert (done.json()["state"], done.json()["outcome"]) == ("finished", "completed")
    assert done.json()["report"]["output"] == "hello\n"
    assert done.json()["message"] == "Ran to its end."
    assert api(learner).get(body["links"]["page"]).status_code in (200, 302)
    assert not Submission.objects.exists()


@pytest.mark.parametrize("form", ["json", "multipart"])
def test_public_cases_are_run_on_a_track(
    post: Post, broker: FakeBroker, exercise: Exercise, form: str
) -> None:
    sent = {"source": SOURCE} if form == "json" else {"file": SimpleUploadedFile("a.py", b"x = 1")}
    body = post({"exercise": "rmsnorm", "track": "cupy", **sent}, form).json()
    assert (body["kind"], body["exercise"], body["track"]) == ("public_cases", "rmsnorm", "cupy")
    assert (broker.runs[0]["exercise"], broker.runs[0]["track"]) == ("rmsnorm", "cupy")
    assert broker.run_queues == [("cpu", 0)]
    cases = [{"id": "one", "title": "One", "passed": True}]
    answer("wrong_answer", cases=[*cases, {**cases[0], "id": "two", "passed": False}])
    assert CodeRun.objects.get().outcome == "wrong_answer"


def test_a_listing_is_run_as_it_is_published(
    post: Post, chapter: Chapter, broker: FakeBroker
) -> None:
    wanted = {"chapter": chapter.slug, "listing": "norm.py"}
    assert_problem(post(wanted), 404, "not_found")
    chapter.current_revision = ChapterRevision.objects.create(
        chapter=chapter,
        number=1,
        content={},
        page={"listings": [{"filename": "norm.py", "code": "print(2)\n"}]},
        answers={},
        build_version=1,
    )
    chapter.published = True
    chapter.save()
    assert post(wanted).json()["kind"] == "code"
    assert broker.runs[0]["source"] == "print(2)\n"
    body = assert_problem(post({**wanted, "listing": "other.py"}), 400, "invalid")
    assert "listing" in body["errors"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "source"),
        ({"chapter": "a-chapter"}, "source"),
        ({"listing": "a.py", "source": "x = 1"}, "source"),
        ({"chapter": "a-chapter", "listing": "a.py", "source": "x = 1"}, "source"),
        ({"source": "x = 1", "track": "numpy"}, "track"),
        ({"source": "x = 1", "exercise": "rmsnorm", "track": "abacus"}, "track"),
        ({"source": 5}, "source"),
        ({"source": " "}, "source"),
        ({"source": "x = 1", "file": "x = 1"}, "file"),
        ({"source": "x = 1", "exercises": "rmsnorm"}, "exercises"),
    ],
)
def test_invalid_runs_are_refused(
    post: Post, exercise: Exercise, body: dict[str, Any], field: str
) -> None:
    assert field in assert_problem(post(body), 400)["errors"]
    assert not CodeRun.objects.exists()


def test_other_refusals_have_their_status(post: Post, exercise: Exercise) -> None:
    assert_problem(post({"source": "x" * 65_537}), 413)
    assert_problem(post({"source": "x = 1", "exercise": "nothing"}), 404)
    assert post({"source": "x = 1"}).status_code == 202
    again = post({"source": "x = 1"})
    assert_problem(again, 429)
    assert int(again["Retry-After"]) > 0


def test_a_queue_that_is_away_ends_the_run_at_once(post: Post, broker: FakeBroker) -> None:
    broker.down = True
    body = post({"source": "x = 1"}).json()
    # The answer was made before the transaction's end in this test, so it is read again.
    run = CodeRun.objects.get(public_id=body["id"])
    assert run.outcome == "not_run"


def test_only_its_learner_sees_a_run(post: Post, api: Api, other: User, grader: User) -> None:
    url = post({"source": "x = 1"}).json()["links"]["self"]
    for stranger in (other, grader):
        assert_problem(api(stranger).get(url), 404)
    assert_problem(api().get(url), 401)


def test_scopes_are_asked_for(api: Api, learner: User) -> None:
    assert_problem(api(learner, "read").post(URL, {"source": "x = 1"}, format="json"), 403)


def test_an_unanswered_run_ends_when_its_page_is_requested(
    post: Post, api: Api, learner: User
) -> None:
    url = post({"source": "x = 1"}).json()["links"]["self"]
    CodeRun.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    body = api(learner).get(url).json()
    assert (body["outcome"], body["message"]) == ("not_run", "Could not be run.")


class TestRepeated:
    @pytest.mark.parametrize(
        "query",
        ["state=queued&state=finished", "state=queued&state=queued", "page_size=1&page_size=2"],
    )
    def test_repeated_query_parameters_are_refused(
        self, api: Api, learner: User, query: str
    ) -> None:
        name = query.split("=")[0]
        body = assert_problem(api(learner).get(f"{ROOT}/submissions/?{query}"), 400, "invalid")
        assert list(body["errors"]) == [name]
        assert "ask once for each" in body["errors"][name][0]

    @pytest.mark.parametrize(
        "place", ["", "exercises/", "exercises/rmsnorm/", "chapters/", "schema/"]
    )
    def test_unknown_query_parameters_are_refused_by_name(self, api: Api, place: str) -> None:
        body = assert_problem(api().get(f"{ROOT}/{place}?x=1"), 400, "invalid")
        (text,) = body["errors"]["x"]
        assert text == "There is no such query parameter. This address takes none."

    @pytest.mark.parametrize("place", ["", "source", "events/"])
    def test_that_holds_at_a_submission_too(
        self, api: Api, submit: Submit, learner: User, place: str
    ) -> None:
        url = f"{ROOT}/submissions/{submit().public_id}/{place}"
        assert api(learner).get(url).status_code == 200
        body = assert_problem(api(learner).get(f"{url}?x=1"), 400, "invalid")
        assert list(body["errors"]) == ["x"]
