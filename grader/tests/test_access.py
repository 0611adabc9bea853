"""One rule of access to submissions: the same answer from pages, REST and admin."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import pytest
from django.contrib.auth.models import AnonymousUser, Group, User
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from grader import access, services
from grader.models import Outcome, Submission
from grader.services.tokens import allowed_scopes
from grader.tests.calls import ROOT, Submit
from grader.tests.messages import SigningWorker, attempt_of, verdict

SOURCE: Final = "x = 20260101\n"
DECISION: Final = {"outcome": "accepted", "reason": "It is fine."}
worker = SigningWorker()


@dataclass(frozen=True, slots=True)
class Rights:
    """What somebody may do with one learner's submission.

    `sees` it over pages and REST; `in_admin` sees it there; `changes` says who decides on it;
    `resubmits` who sends it again once the platform failed. Without `is_known`, they sign in first.
    """

    sees: bool = False
    in_admin: bool = False
    changes: bool = False
    resubmits: bool = False
    is_known: bool = True


ALL: Final = Rights(sees=True, in_admin=True, changes=True, resubmits=True)
NOTHING: Final = Rights()
UNKNOWN: Final = Rights(is_known=False)
AUTHOR: Final = "author"
GRADER: Final = "grader"
OPERATOR: Final = "operator"
ROLES: Final = (AUTHOR, GRADER, OPERATOR)
OWNER: Final = "its learner"
WORKER: Final = "a worker"
TABLE: Final = MappingProxyType(
    {
        OWNER: Rights(sees=True, resubmits=True),
        "another learner": NOTHING,
        "staff without a role": NOTHING,
        AUTHOR: NOTHING,
        GRADER: ALL,
        OPERATOR: ALL,
        "superuser": ALL,
        "visitor": UNKNOWN,
        # It has no account. What it knows of a submission is its lease, which opens nothing here.
        WORKER: UNKNOWN,
    }
)
EVERYBODY = pytest.mark.parametrize("who", TABLE)


class Person:
    """Somebody of the table at every door: with a browser, and with a token of all their scopes."""

    def __init__(self, who: str, submission: Submission) -> None:
        self.rights = TABLE[who]
        self.user = _user(who, submission)
        self.browser = Client()
        self.rest = APIClient()
        if isinstance(self.user, User):
            self.browser.force_login(self.user)
            self.token(*allowed_scopes(self.user))
        elif who == WORKER:
            self.rest.credentials(HTTP_AUTHORIZATION=f"Token {attempt_of(submission).lease}")

    def token(self, *scopes: str) -> APIClient:
        assert isinstance(self.user, User)
        _, token = services.create_token(self.user, "laptop", scopes)
        self.rest.credentials(HTTP_AUTHORIZATION=f"Token {token}")
        return self.rest


def _user(who: str, submission: Submission) -> User | AnonymousUser:
    if who == OWNER:
        return submission.user
    if not TABLE[who].is_known:
        return AnonymousUser()
    is_learner = who == "another learner"
    user = User.objects.create_user(
        "somebody", is_staff=not is_learner, is_superuser=who == "superuser"
    )
    if who in ROLES:
        user.groups.add(Group.objects.get(name=who))
    return user


@pytest.fixture
def submission(submit: Submit) -> Submission:
    """One that is held for review, so that there is something to decide."""
    made = submit(SOURCE)
    worker.record_verdict(verdict(made, "flagged"))
    made.refresh_from_db()
    return made


def over_rest(submission: Submission, part: str = "") -> str:
    return f"{ROOT}/submissions/{submission.public_id}/{part}"


def test_the_table_names_every_role(db: None) -> None:
    # Learners have two lines: the submission's own, and another.
    assert set(Group.objects.values_list("name", flat=True)) == {*ROLES, "learner"}


@EVERYBODY
def test_who_sees_a_submission(submission: Submission, who: str) -> None:
    person = Person(who, submission)
    rights, browser, rest = person.rights, person.browser, person.rest
    assert (access.find_submission(person.user, submission.public_id) is not None) == rights.sees
    assert access.visible_submissions(person.user).exists() == rights.sees
    assert access.may_see(person.user, submission) == rights.sees

    page = {True: 200, False: 404} if rights.is_known else {False: 302}
    for name in ("submission", "source"):
        answer = browser.get(reverse(f"grader:{name}", args=[submission.public_id]))
        assert answer.status_code == page[rights.sees], name
    ids = {"old": submission.public_id, "new": submission.public_id}
    compared = browser.get(reverse("grader:compare", args=["rmsnorm"]), ids)
    assert compared.status_code == page[rights.sees]
    # The editor begins with an earlier submission, of whoever may see it, and else with a starter.
    editor = browser.get(reverse("grader:exercise", args=["rmsnorm"]), {"from": ids["old"]})
    assert (SOURCE.strip() in editor.content.decode()) == rights.sees

    call = {True: 200, False: 404} if rights.is_known else {False: 401}
    for part in ("", "source", "events/"):
        assert rest.get(over_rest(submission, part)).status_code == call[rights.sees], part
        assert browser.get(over_rest(submission, part)).status_code == call[rights.sees], part
    listed = rest.get(f"{ROOT}/submissions/").json().get("results", [])
    assert [row["id"] for row in listed] == [submission.public_id] * rights.sees

    for url in (
        reverse("admin:grader_submission_change", args=[submission.pk]),
        reverse("admin:grader_submission_changelist"),
    ):
        answer = browser.get(url)
        shown = answer.status_code == 200 and submission.public_id in answer.content.decode()
        assert shown == rights.in_admin, url


@EVERYBODY
@pytest.mark.parametrize("door", ["rest", "admin"])
def test_who_decides_on_a_submission(submission: Submission, who: str, door: str) -> None:
    person = Person(who, submission)
    assert access.may_change_submissions(person.user) == person.rights.changes
    if door == "rest":
        person.rest.post(over_rest(submission, "decision/"), DECISION, format="json")
    else:
        url = reverse("admin:grader_submission_decide", args=[submission.pk])
        person.browser.post(url, DECISION)
    submission.refresh_from_db()
    assert (submission.outcome == Outcome.ACCEPTED) == person.rights.changes


@EVERYBODY
@pytest.mark.parametrize("door", ["rest", "page"])
def test_who_sends_a_submission_again(submit: Submit, who: str, door: str) -> None:
    submission = submit(SOURCE)
    worker.record_verdict(verdict(submission, "not_gradable"))
    person = Person(who, submission)
    if door == "rest":
        person.rest.post(over_rest(submission, "resubmit/"))
    else:
        person.browser.post(reverse("grader:resubmit", args=[submission.public_id]))
    submission.refresh_from_db()
    assert submission.is_final != person.rights.resubmits


@pytest.mark.parametrize(
    ("scopes", "read", "decide"),
    [
        (("read",), 200, 403),
        (("grade",), 403, 200),
        (("submit",), 403, 403),
        (("read", "grade"), 200, 200),
    ],
)
def test_a_token_gives_no_more_than_its_scopes(
    submission: Submission, scopes: tuple[str, ...], read: int, decide: int
) -> None:
    client = Person(GRADER, submission).token(*scopes)
    assert client.get(over_rest(submission)).status_code == read
    answer = client.post(over_rest(submission, "decision/"), DECISION, format="json")
    assert answer.status_code == decide


@pytest.mark.parametrize(("scopes", "status"), [(("submit",), 404), (("read", "submit"), 202)])
def test_others_submissions_are_sent_again_by_tokens_that_may_read_them(
    submit: Submit, scopes: tuple[str, ...], status: int
) -> None:
    submission = submit(SOURCE)
    worker.record_verdict(verdict(submission, "not_gradable"))
    client = Person(GRADER, submission).token(*scopes)
    assert client.post(over_rest(submission, "resubmit/")).status_code == status
