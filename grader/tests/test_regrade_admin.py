"""Regrades in the admin: started from the list, reviewed, committed, undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from grader import services
from grader.models import RegradeRun, Submission
from grader.tests.messages import verdict, worker

Submit = Callable[..., Submission]
LIST = reverse("admin:grader_submission_changelist")


@pytest.fixture
def wrong(submit: Submit) -> Submission:
    submission = submit()
    worker.record_verdict(verdict(submission, "wrong_answer"))
    return submission


@pytest.fixture
def staff(client: Client, grader: User) -> Client:
    client.force_login(grader)
    return client


def start(staff: Client, *submissions: Submission) -> Any:
    chosen = {"action": "regrade", "_selected_action": [s.pk for s in submissions]}
    return staff.post(LIST, chosen, follow=True)


def outcome(submission: Submission) -> str | None:
    return Submission.objects.get(pk=submission.pk).outcome


def test_the_whole_way(
    staff: Client, wrong: Submission, django_assert_max_num_queries: Any
) -> None:
    page = start(staff, wrong).content.decode()
    run = RegradeRun.objects.get()
    assert "Being graded, behind the submissions of learners" in page
    assert 'http-equiv="refresh"' in page
    assert "Commit all" not in page
    worker.record_verdict(verdict(wrong))
    with django_assert_max_num_queries(15):
        page = staff.get(run.get_absolute_url()).content.decode()
    for text in ("Wrong answer, 25", "the score would rise", "Commit all results that differ"):
        assert text in page
    assert "refresh" not in page
    assert outcome(wrong) == "wrong_answer"
    item = staff.get(reverse("admin:grader_regradeitem_change", args=[run.items.get().pk]))
    assert "eps is added outside the root." in item.content.decode()
    commit = reverse("admin:grader_regraderun_commit", args=[run.pk])
    assert commit in page
    page = staff.post(commit, {"scope": "not_lower"}, follow=True).content.decode()
    assert outcome(wrong) == "accepted"
    assert "Undo the commit" in page
    assert "taken over" in page
    undo = reverse("admin:grader_regraderun_undo", args=[run.pk])
    assert "taken back" in staff.post(undo, follow=True).content.decode()
    assert outcome(wrong) == "wrong_answer"


def test_a_refusal_is_said_in_words(staff: Client, wrong: Submission, submit: Submit) -> None:
    assert "can be graded again" in start(staff, submit("x = 2")).content.decode()
    start(staff, wrong)
    assert "still being graded" in start(staff, wrong).content.decode()
    run = RegradeRun.objects.get()
    commit = reverse("admin:grader_regraderun_commit", args=[run.pk])
    assert "would have to be" in staff.post(commit, {"scope": "all"}, follow=True).content.decode()
    assert staff.get(commit).status_code == 405
    assert RegradeRun.objects.get().state == "grading"


def test_viewers_start_and_change_nothing(staff: Client, wrong: Submission, grader: User) -> None:
    start(staff, wrong)
    worker.record_verdict(verdict(wrong))
    run = RegradeRun.objects.get()
    grader.user_permissions.remove(Permission.objects.get(codename="change_submission"))
    assert "Regrade (dry run)" not in staff.get(LIST).content.decode()
    start(staff, wrong)
    assert RegradeRun.objects.count() == 1
    page = staff.get(run.get_absolute_url())
    assert page.status_code == 200
    assert "formaction" not in page.content.decode()
    for name in ("commit", "undo"):
        url = reverse(f"admin:grader_regraderun_{name}", args=[run.pk])
        assert staff.post(url, {"scope": "all"}).status_code == 403
    assert outcome(wrong) == "wrong_answer"


def test_the_page_of_a_large_run_takes_no_more_queries(
    staff: Client, grader: User, submit: Submit, settings: Any, django_assert_max_num_queries: Any
) -> None:
    settings.GRADING = {**settings.GRADING, "SUBMISSIONS_PER_MINUTE": 99}
    for number in range(12):
        worker.record_verdict(verdict(submit(f"x = {number}"), "wrong_answer"))
    run = services.start_regrade(grader, Submission.objects.all(), {})
    with django_assert_max_num_queries(15):
        assert staff.get(run.get_absolute_url()).status_code == 200
