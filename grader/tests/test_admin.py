from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from grader import services
from grader.models import Submission, WorkerNode
from grader.tests.messages import attempt_of, grade_on_cpu, grade_on_gpu, returned, verdict, worker

Submit = Callable[..., Submission]
MODELS = ("submission", "gradingattempt", "workernode", "apitoken", "auditentry")


@pytest.fixture
def staff(client: Client, grader: User) -> Client:
    client.force_login(grader)
    return client


@pytest.fixture
def rows(submit: Submit, learner: User) -> dict[str, Any]:
    submission = submit("x = '<script>alert(1)</script>'")
    worker.record_verdict(verdict(submission, "wrong_answer"))
    token, _ = services.create_token(learner, "laptop", ["read"])
    node = WorkerNode.objects.create(name="node-1", tracks=["numpy"], last_seen_at=timezone.now())
    return {
        "submission": submission,
        "gradingattempt": attempt_of(submission),
        "workernode": node,
        "apitoken": token,
        "auditentry": learner.audit_entries.get(),
    }


@pytest.mark.parametrize("model", MODELS)
def test_graders_see_everything_and_change_nothing(
    staff: Client, rows: dict[str, Any], model: str
) -> None:
    row = rows[model]
    assert staff.get(reverse(f"admin:grader_{model}_changelist")).status_code == 200
    page = staff.get(reverse(f"admin:grader_{model}_change", args=[row.pk]))
    assert page.status_code == 200
    assert "<script>alert" not in page.content.decode()
    assert staff.get(reverse(f"admin:grader_{model}_add")).status_code == 403
    change = staff.post(reverse(f"admin:grader_{model}_change", args=[row.pk]), {"state": "queued"})
    assert change.status_code == 403
    assert staff.post(reverse(f"admin:grader_{model}_delete", args=[row.pk])).status_code == 403


def test_no_secret_is_shown(staff: Client, rows: dict[str, Any]) -> None:
    token, attempt = rows["apitoken"], rows["gradingattempt"]
    page = staff.get(reverse("admin:grader_apitoken_change", args=[token.pk])).content.decode()
    assert token.digest not in page
    url = reverse("admin:grader_gradingattempt_change", args=[attempt.pk])
    assert attempt.lease not in staff.get(url).content.decode()


@pytest.mark.parametrize(
    "query",
    [
        "?state__exact=finished",
        "?outcome__exact=wrong_answer",
        "?stuck=yes",
        "?q=learner",
        "?exercise__id__exact=1",
    ],
)
def test_submissions_are_filtered_and_searched(
    staff: Client, rows: dict[str, Any], query: str
) -> None:
    response = staff.get(reverse("admin:grader_submission_changelist") + query)
    assert response.status_code == 200


def test_a_search_for_thousands_of_words_is_answered(staff: Client, rows: dict[str, Any]) -> None:
    response = staff.get(
        reverse("admin:grader_submission_changelist"), {"q": " ".join(["a"] * 5_000)}
    )
    assert response.status_code == 200


def test_the_list_of_submissions_is_constant_in_queries(
    staff: Client, submit: Submit, settings: Any, django_assert_max_num_queries: Any
) -> None:
    settings.GRADING = {**settings.GRADING, "MAX_OPEN_SUBMISSIONS_PER_LEARNER": 99}
    for number in range(25):
        submit(f"x = {number}")
    with django_assert_max_num_queries(12):
        staff.get(reverse("admin:grader_submission_changelist"))


def test_an_operator_revokes_tokens(client: Client, rows: dict[str, Any], grader: User) -> None:
    url = reverse("admin:grader_apitoken_changelist")
    act = {"action": "revoke", "_selected_action": [rows["apitoken"].pk]}
    client.force_login(grader)
    client.post(url, act)
    rows["apitoken"].refresh_from_db()
    assert rows["apitoken"].revoked_at is None
    client.force_login(User.objects.create_superuser("root", password="root-password"))
    client.post(url, act)
    rows["apitoken"].refresh_from_db()
    assert rows["apitoken"].revoked_at is not None


def test_learners_have_no_admin(client: Client, learner: User, submit: Submit) -> None:
    client.force_login(learner)
    for model in (*MODELS, "exercise"):
        response = client.get(reverse(f"admin:grader_{model}_changelist"))
        assert response.status_code in (302, 403)


def test_second_verdicts_and_returned_jobs_are_shown(
    staff: Client, kernels: Submit, committed: Callable[..., Any]
) -> None:
    submission = kernels()
    grade_on_cpu(submission)
    committed(worker.record_return, returned(submission, "Its GPU is <gone>."))
    grade_on_gpu(submission, "wrong_answer")
    url = reverse("admin:grader_submission_change", args=[submission.pk])
    page = staff.get(url).content.decode()
    assert "eps is added outside the root." in page
    assert "Its GPU is &lt;gone&gt;." in page
    attempts = reverse("admin:grader_gradingattempt_changelist")
    (found,) = staff.get(f"{attempts}?trouble=returned").context["cl"].queryset
    assert (found.state, found.kind) == ("returned", "device")
