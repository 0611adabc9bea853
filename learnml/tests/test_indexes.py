"""Lists stay fast with a hundred thousand submissions: each query has its index."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.models import QuerySet

from grader.models import Outcome, Submission, SubmissionState

pytestmark = pytest.mark.postgres

NEWEST = Submission.objects.order_by("-created_at", "-id")


def plan(rows: QuerySet[Submission]) -> str:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # Of an empty table it would read all of nothing.
            cursor.execute("SET LOCAL enable_seqscan = off")
    return rows.explain()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("rows", "index"),
    [
        (NEWEST, "grader_sub_newest"),
        (NEWEST.filter(user=1), "grader_sub_own_newest"),
        (NEWEST.filter(exercise=1), "grader_sub_exercise"),
        (NEWEST.filter(state=SubmissionState.QUEUED), "grader_sub_state"),
        (NEWEST.filter(outcome=Outcome.FLAGGED), "grader_sub_outcome"),
    ],
    ids=["all", "own", "exercise", "state", "outcome"],
)
def test_submissions_are_listed_by_an_index(rows: QuerySet[Submission], index: str) -> None:
    found = plan(rows[:50])
    assert index in found
    assert "TEMP B-TREE" not in found
    assert "Sort" not in found
