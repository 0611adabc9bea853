"""The time of submission alone decides whether a submission is late."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.test import Client, RequestFactory
from django.utils import timezone

from courses.models import Chapter
from grader import deadlines, services
from grader.models import AuditEntry, Exercise, Extension, Submission
from grader.services.errors import DecisionRefused, NotAllowed
from grader.tests import messages
from grader.tests.calls import ROOT, Api, Submit
from grader.tests.messages import worker
from grader.web.panels import exercises_panel

NOON = datetime(2027, 5, 31, 12, 0, tzinfo=UTC)
MOMENT = timedelta(microseconds=1)


@pytest.fixture
def handed_in(submit: Submit) -> Callable[[datetime], Submission]:
    """Submit, and let it have come in at a moment."""

    def call(at: datetime) -> Submission:
        submission = submit(f"x = {at.timestamp()!r}\n")
        Submission.objects.filter(pk=submission.pk).update(created_at=at)
        submission.refresh_from_db()
        return submission

    return call


def due(exercise: Exercise, at: datetime | None) -> None:
    Exercise.objects.filter(pk=exercise.pk).update(due_at=at)
    exercise.refresh_from_db()


def late_by_database(submission: Submission) -> bool:
    rows = deadlines.with_deadline(Submission.objects.filter(pk=submission.pk))
    late, in_time = rows.filter(deadlines.LATE), rows.filter(deadlines.IN_TIME)
    assert late.exists() != in_time.exists()
    assert deadlines.is_late(rows.get()) == late.exists()
    return late.exists()


@pytest.mark.parametrize(
    ("at", "is_late"),
    [
        (NOON - MOMENT, False),
        (NOON, False),
        (NOON + timedelta(minutes=1) - MOMENT, False),
        (NOON + timedelta(minutes=1), True),
        (NOON + timedelta(seconds=61), True),
    ],
)
@pytest.mark.parametrize(
    "deadline",
    [
        NOON,
        NOON.astimezone(timezone.get_fixed_timezone(330)),
        NOON + timedelta(seconds=40, microseconds=7),
    ],
)
def test_a_deadline_holds_to_the_end_of_its_minute_in_any_time_zone(
    handed_in: Any, exercise: Exercise, at: datetime, deadline: datetime, is_late: bool
) -> None:
    due(exercise, deadline)
    submission = handed_in(at)
    assert deadlines.is_late(submission) is is_late
    assert late_by_database(submission) is is_late


def test_a_page_calls_a_deadline_past_once_its_minute_is_over() -> None:
    last = NOON + timedelta(minutes=1) - MOMENT
    assert not deadlines.is_past(NOON, last)
    assert deadlines.is_past(NOON, last + MOMENT)
    assert not deadlines.is_past(None, NOON)


def test_without_a_deadline_nothing_is_late(handed_in: Any, exercise: Exercise) -> None:
    assert not late_by_database(handed_in(NOON))


def test_moving_the_deadline_decides_anew(handed_in: Any, exercise: Exercise) -> None:
    due(exercise, NOON - MOMENT)
    submission = handed_in(NOON)
    assert late_by_database(submission)
    due(exercise, NOON)
    assert not late_by_database(submission)
    due(exercise, None)
    assert not late_by_database(submission)


def test_an_author_moves_it_in_the_admin_and_is_on_record(
    client: Client, handed_in: Any, exercise: Exercise
) -> None:
    due(exercise, NOON)
    submission = handed_in(NOON + timedelta(seconds=90))
    assert late_by_database(submission)
    client.force_login(User.objects.create_superuser("author", password="author-password"))
    url = f"/admin/grader/exercise/{exercise.pk}/change/"
    kept = ("slug", "title", "position", "summary", "statement", "is_published")
    data = {name: getattr(exercise, name) for name in kept}
    data |= {"chapter": exercise.chapter_id, "accepts_submissions": "on"}
    moved = {"due_at_0": "2027-05-31", "due_at_1": "12:01:00"}
    assert client.post(url, {**data, **moved}).status_code == 302
    assert not late_by_database(submission)
    latest, *_ = exercise.history.all()
    assert latest.due_at == NOON + timedelta(minutes=1)
    assert latest.history_user.username == "author"
    assert client.post(url, {**data, "due_at_0": "", "due_at_1": ""}).status_code == 302
    exercise.refresh_from_db()
    assert exercise.due_at is None


class TestNothingLaterMakesItLate:
    @pytest.fixture
    def waiting(self, handed_in: Any, exercise: Exercise) -> Submission:
        """Handed in in time, and not graded when the deadline passes."""
        due(exercise, timezone.now() - timedelta(hours=1))
        submission: Submission = handed_in(timezone.now() - timedelta(hours=2))
        return submission

    def test_a_verdict_after_the_deadline(self, waiting: Submission) -> None:
        worker.record_verdict(messages.verdict(waiting))
        waiting.refresh_from_db()
        deadline = deadlines.deadline_of(waiting)
        assert deadline is not None
        assert waiting.finished_at is not None
        assert waiting.finished_at > deadline
        assert not late_by_database(waiting)

    def test_a_gpus_verdict_after_the_deadline(self, kernels: Submit, exercise: Exercise) -> None:
        submission = kernels()
        due(exercise, submission.created_at)
        worker.record_verdict(messages.verdict(submission))
        device = messages.from_a_gpu_node(messages.verdict(submission), submission)
        worker.record_verdict(device)
        submission.refresh_from_db()
        assert submission.second.outcome == "accepted"
        assert not late_by_database(submission)

    def test_a_regrade_after_the_deadline(
        self, waiting: Submission, grader: User, committed: Any
    ) -> None:
        worker.record_verdict(messages.verdict(waiting, "wrong_answer"))
        chosen = Submission.objects.filter(pk=waiting.pk)
        run = committed(services.start_regrade, grader, chosen, {})
        worker.record_verdict(messages.verdict(waiting))
        run.refresh_from_db()
        services.commit_regrade(grader, run, "all")
        waiting.refresh_from_db()
        assert waiting.outcome == "accepted"
        assert not late_by_database(waiting)

    def test_sending_again_what_the_platform_failed_to_grade(
        self, waiting: Submission, learner: User
    ) -> None:
        worker.record_verdict(messages.verdict(waiting, "not_gradable"))
        services.resubmit(learner, waiting)
        assert waiting.state == "queued"
        assert not late_by_database(waiting)

    def test_the_same_request_sent_once_more(self, submit: Submit, exercise: Exercise) -> None:
        first = submit(idempotency_key="one")
        early = first.created_at - timedelta(minutes=2)
        Submission.objects.filter(pk=first.pk).update(created_at=early)
        first.refresh_from_db()
        due(exercise, early)
        assert submit(idempotency_key="one") == first
        assert not late_by_database(first)
        assert late_by_database(submit("y = 2\n", idempotency_key="two"))


class TestExtensions:
    def test_the_later_of_both_holds_for_that_learner_alone(
        self, handed_in: Any, exercise: Exercise, grader: User, learner: User, other: User
    ) -> None:
        due(exercise, NOON)
        services.give_extension(grader, exercise, other, NOON + timedelta(days=9), "Ill.")
        submission = handed_in(NOON + timedelta(hours=1))
        assert late_by_database(submission)
        extended = NOON + timedelta(hours=1)
        extension = services.give_extension(grader, exercise, learner, extended, "Ill.")
        assert deadlines.deadline_of(submission) == extended
        assert not late_by_database(submission)
        due(exercise, NOON + timedelta(days=1))
        again = Submission.objects.get(pk=submission.pk)
        assert deadlines.deadline_of(again) == NOON + timedelta(days=1)
        due(exercise, NOON)
        services.remove_extension(grader, extension)
        assert late_by_database(submission)
        acts = AuditEntry.objects.filter(target="exercise:rmsnorm").values_list("action", flat=True)
        assert sorted(acts) == ["extension.given", "extension.given", "extension.removed"]

    def test_a_second_one_replaces_the_first(
        self, exercise: Exercise, grader: User, learner: User
    ) -> None:
        due(exercise, NOON)
        for days in (1, 2):
            services.give_extension(grader, exercise, learner, NOON + timedelta(days=days), "Ill.")
        assert Extension.objects.get().due_at == NOON + timedelta(days=2)

    def test_what_extends_nothing_is_refused(
        self, exercise: Exercise, grader: User, learner: User
    ) -> None:
        with pytest.raises(DecisionRefused, match="no deadline"):
            services.give_extension(grader, exercise, learner, NOON, "Ill.")
        due(exercise, NOON)
        with pytest.raises(DecisionRefused, match="ends after it"):
            services.give_extension(grader, exercise, learner, NOON, "Ill.")
        with pytest.raises(NotAllowed):
            services.give_extension(learner, exercise, learner, NOON + timedelta(minutes=1), "Ill.")

    def test_a_grader_gives_and_takes_it_in_the_admin(
        self, client: Client, exercise: Exercise, grader: User, learner: User
    ) -> None:
        due(exercise, NOON)
        client.force_login(grader)
        url = "/admin/grader/extension/"
        sent = {
            "exercise": exercise.pk,
            "learner": "learner",
            "due_at_0": "2027-06-02",
            "due_at_1": "12:00:00",
            "reason": "Ill.",
        }
        refused = client.post(f"{url}add/", {**sent, "learner": "nobody"})
        assert "There is no account of the name nobody" in refused.content.decode()
        # The name is found whatever its case, as when signing in.
        assert client.post(f"{url}add/", {**sent, "learner": "LeaRner"}).status_code == 302
        extension = Extension.objects.get()
        assert (extension.user, extension.created_by) == (learner, grader)
        assert extension.due_at == NOON + timedelta(days=2)
        change = client.post(f"{url}{extension.pk}/change/", {**sent, "due_at_0": "2027-06-03"})
        assert change.status_code == 302
        assert Extension.objects.get().due_at == NOON + timedelta(days=3)
        client.post(f"{url}{extension.pk}/delete/", {"post": "yes"})
        assert not Extension.objects.exists()

    def test_a_second_one_says_that_it_changes_the_first(
        self, client: Client, exercise: Exercise, grader: User, learner: User
    ) -> None:
        due(exercise, NOON)
        services.give_extension(grader, exercise, learner, NOON + timedelta(days=1), "Ill.")
        client.force_login(grader)
        url = "/admin/grader/extension/add/"
        sent = {
            "exercise": exercise.pk,
            "learner": "learner",
            "due_at_0": "2027-06-03",
            "due_at_1": "12:00:00",
            "reason": "Still ill.",
        }
        asked = client.post(url, sent).content.decode()
        assert "learner has an extension already: until 2027-06-01 12:00 UTC" in asked
        assert "given by grader, “Ill.”" in asked
        assert '<input type="checkbox" name="replaces"' in asked
        assert "Still ill." in asked, "what was typed is still there"
        assert Extension.objects.get().due_at == NOON + timedelta(days=1)
        done = client.post(url, {**sent, "replaces": "on"}, follow=True).content.decode()
        assert "This changed the extension that there was." in done
        extension = Extension.objects.get()
        assert (extension.due_at, extension.reason) == (NOON + timedelta(days=3), "Still ill.")
        # Nobody is asked where there is none.
        assert 'type="hidden" name="replaces"' in client.get(url).content.decode()

    def test_one_within_the_deadlines_own_minute_gives_nothing(
        self, exercise: Exercise, grader: User, learner: User
    ) -> None:
        due(exercise, NOON)
        with pytest.raises(DecisionRefused):
            services.give_extension(grader, exercise, learner, NOON + timedelta(seconds=59), "Ill.")


class TestWhereItIsShown:
    @pytest.fixture
    def both(self, handed_in: Any, exercise: Exercise) -> tuple[Submission, Submission]:
        due(exercise, NOON)
        return handed_in(NOON), handed_in(NOON + timedelta(minutes=1))

    def test_in_lists_filters_and_answers_of_the_api(
        self, api: Api, learner: User, both: tuple[Submission, Submission]
    ) -> None:
        client = api(learner)
        for value, submission in (("false", both[0]), ("true", both[1])):
            rows = client.get(f"{ROOT}/submissions/?late={value}").json()["results"]
            assert [row["id"] for row in rows] == [submission.public_id]
            for row in (*rows, client.get(f"{ROOT}/submissions/{submission.public_id}/").json()):
                assert row["due_at"] == "2027-05-31T12:00:00Z"
                assert row["late"] is (value == "true")
        assert client.get(f"{ROOT}/submissions/?late=yes").status_code == 400

    def test_a_moved_deadline_is_news_to_who_polls(
        self, api: Api, learner: User, exercise: Exercise, both: tuple[Submission, Submission]
    ) -> None:
        client = api(learner)
        url = f"{ROOT}/submissions/{both[1].public_id}/"
        known = {"If-None-Match": client.get(url)["ETag"]}
        assert client.get(url, headers=known).status_code == 304
        due(exercise, NOON + timedelta(days=1))
        assert client.get(url, headers=known).json()["late"] is False

    def test_an_exercise_has_its_callers_deadline(
        self, api: Api, exercise: Exercise, grader: User, learner: User
    ) -> None:
        due(exercise, NOON)
        services.give_extension(grader, exercise, learner, NOON + timedelta(days=1), "Ill.")
        expected = {None: "2027-05-31T12:00:00Z", learner: "2027-06-01T12:00:00Z"}
        for user, moment in expected.items():
            one = api(user).get(f"{ROOT}/exercises/rmsnorm/").json()
            listed = api(user).get(f"{ROOT}/exercises/").json()[0]
            assert one["due_at"] == listed["due_at"] == moment

    def test_on_the_learners_pages(
        self, client: Client, learner: User, both: tuple[Submission, Submission]
    ) -> None:
        client.force_login(learner)
        texts = [client.get(each.get_absolute_url()).content.decode() for each in both]
        assert "In time: due" in texts[0]
        assert "Late: it was due" in texts[1]
        # In UTC until the script writes it in the reader's zone; the same for all moments.
        written = (
            '<time datetime="2027-05-31T12:00:00+00:00" data-to="minute">31 May 2027, 12:00 UTC'
        )
        assert written in texts[0]
        for text in texts:
            assert text.count("<time ") == text.count("data-to=") >= 2
        rows = client.get("/submissions/").content.decode()
        assert rows.count(">late</span>") == 1

    def test_before_and_after_on_the_exercises_page(
        self, client: Client, learner: User, exercise: Exercise
    ) -> None:
        due(exercise, timezone.now() + timedelta(days=2, minutes=1))
        url = exercise.get_absolute_url()
        assert ", in 2\N{NO-BREAK SPACE}days" in client.get(url).content.decode()
        due(exercise, timezone.now() - timedelta(minutes=1))
        assert "The deadline has passed" in client.get(url).content.decode()

    def test_beside_the_exercises_of_a_chapter_and_on_its_course_and_the_dashboard(
        self,
        client: Client,
        rf: RequestFactory,
        grader: User,
        learner: User,
        exercise: Exercise,
        chapter: Chapter,
    ) -> None:
        ahead = timezone.now().replace(microsecond=0) + timedelta(days=1)
        due(exercise, ahead)
        Chapter.objects.filter(pk=chapter.pk).update(published=True)
        shown = f"{ahead:%-d %B %Y, %H:%M}"
        course = client.get(f"/courses/{chapter.course.slug}/").content.decode()
        assert shown in course
        assert shown in client.get("/dashboard/").content.decode()
        later = ahead + timedelta(days=1)
        services.give_extension(grader, exercise, learner, later, "Ill.")
        request = rf.get("/")
        request.user = learner
        panel = exercises_panel(request, chapter)
        assert panel is not None
        beside = render_to_string(panel.template, {"panel": panel.context})
        assert f"{later:%-d %B %Y, %H:%M}" in beside
        client.force_login(learner)
        assert f"{later:%-d %B %Y, %H:%M}" in client.get("/dashboard/").content.decode()
        due(exercise, timezone.now() - timedelta(days=9))
        Extension.objects.all().delete()
        assert "Deadlines" not in client.get("/dashboard/").content.decode()

    def test_in_the_table_for_a_gradebook(
        self, client: Client, grader: User, learner: User, both: tuple[Submission, Submission]
    ) -> None:
        User.objects.filter(pk=learner.pk).update(username="-learner")
        client.force_login(grader)
        data = {"action": "as_csv", "_selected_action": [each.pk for each in both]}
        answer: Any = client.post("/admin/grader/submission/", data)
        lines = b"".join(answer.streaming_content).decode().splitlines()
        rows = {row["id"]: row for row in csv.DictReader(lines)}
        assert [rows[each.public_id]["late"] for each in both] == ["false", "true"]
        first = rows[both[0].public_id]
        assert first["submitted_at"] == first["due_at"] == NOON.isoformat()
        # No formula for a spreadsheet.
        assert first["learner"] == "'-learner"

    def test_the_table_opens_in_excel_and_the_page_offers_that_first(
        self, client: Client, grader: User, learner: User, both: tuple[Submission, Submission]
    ) -> None:
        User.objects.filter(pk=learner.pk).update(username="Łucja-Ñ")
        client.force_login(grader)
        page = client.get("/admin/grader/submission/").content.decode()
        offered = re.findall(r'<option value="(\w+)">Download', page)
        assert offered == ["as_csv_for_excel", "as_csv"]
        data = {"_selected_action": [each.pk for each in both]}
        for_excel, plain = (
            b"".join(client.post("/admin/grader/submission/", {**data, "action": name}))
            for name in offered
        )
        # Excel reads the code page of its machine where the mark is missing.
        assert for_excel == codecs.BOM_UTF8 + plain
        assert "Łucja-Ñ" in plain.decode()

    def test_graders_find_the_late_ones(
        self, client: Client, grader: User, both: tuple[Submission, Submission]
    ) -> None:
        client.force_login(grader)
        url = "/admin/grader/submission/"
        for value, there, gone in (("true", both[1], both[0]), ("false", both[0], both[1])):
            page = client.get(f"{url}?late={value}").content.decode()
            assert there.public_id in page
            assert gone.public_id not in page
        assert "2027-05-31 12:00 UTC" in client.get(f"{url}{both[1].pk}/change/").content.decode()


def test_a_regrade_can_choose_by_lateness(
    handed_in: Any, exercise: Exercise, api: Api, grader: User
) -> None:
    due(exercise, NOON)
    for at in (NOON, NOON + timedelta(minutes=1)):
        worker.record_verdict(messages.verdict(handed_in(at)))
    body = {"dry_run": True, "filter": {"late": True}}
    run = api(grader, "read", "grade").post(f"{ROOT}/regrades/", body, format="json").json()
    assert run["filter"] == {"late": True}
    items = api(grader, "read", "grade").get(f"{ROOT}/regrades/{run['id']}/items/").json()
    assert len(items["results"]) == 1
