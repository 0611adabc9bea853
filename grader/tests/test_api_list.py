from __future__ import annotations

import base64
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from grader.models import Exercise, Submission
from grader.tests.calls import ROOT, Api, Submit, assert_problem

pytestmark = pytest.mark.postgres


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
            ("track=numpy", 23),
            ("track=cupy", 0),
            ("learner=learner", 23),
            ("learner=LEARNER", 23),
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

    def test_unknown_names_are_refused_to_those_who_may_know_them(
        self, api: Api, learner: User, grader: User, other: User, many: list[str]
    ) -> None:
        def errors(user: User, query: str) -> dict[str, list[str]]:
            found: dict[str, list[str]] = assert_problem(
                api(user).get(f"{ROOT}/submissions/?{query}"), 400
            )["errors"]
            return found

        assert errors(learner, "exercise=norm") == {"exercise": ["There is no exercise norm."]}
        assert set(errors(grader, "exercise=norm&learner=me")) == {"exercise", "learner"}
        for user in (other, learner):
            answer = api(user).get(f"{ROOT}/submissions/?learner=me")
            assert answer.json()["results"] == []
        Exercise.objects.update(is_published=False)
        assert "exercise" in errors(other, "exercise=rmsnorm"), "as if there were none"
        own = api(learner).get(f"{ROOT}/submissions/?exercise=rmsnorm&page_size=200").json()
        assert len(own["results"]) == 23

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

    def test_a_cursor_tells_nothing_of_how_many_rows_there_are(
        self, api: Api, learner: User, many: list[str]
    ) -> None:
        Submission.objects.filter(public_id=many[0]).update(id=987654321)
        link = api(learner).get(f"{ROOT}/submissions/?page_size=1&ordering=-id").json()["next"]
        text = parse_qs(urlsplit(link).query)["cursor"][0]
        shown = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
        assert many[0] in shown
        assert "987654321" not in shown

    def test_a_cursor_at_a_row_that_is_gone_says_so(
        self, api: Api, learner: User, many: list[str]
    ) -> None:
        client = api(learner)
        page = client.get(f"{ROOT}/submissions/?page_size=4").json()
        Submission.objects.filter(public_id=page["results"][-1]["id"]).delete()
        problem = assert_problem(client.get(page["next"]), 400)
        assert "is gone" in problem["errors"]["cursor"][0]
