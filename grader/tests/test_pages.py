from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from courses.models import Chapter
from grader.models import AuditEntry, Exercise, Submission, WorkerNode
from grader.tests.conftest import SOURCE, FakeBroker
from grader.tests.messages import progress, verdict, worker
from grader.web import panels

Submit = Callable[..., Submission]


@pytest.fixture
def signed_in(client: Client, learner: User) -> Client:
    client.force_login(learner)
    return client


def post(client: Client, exercise: Exercise, source: str = SOURCE, **fields: Any) -> Any:
    data = {"track": "numpy", "source": source, "key": "k", **fields}
    return client.post(reverse("grader:submit", args=[exercise.slug]), data)


class TestExercisePage:
    def test_anyone_reads_statement_contract_and_starter(
        self, client: Client, exercise: Exercise
    ) -> None:
        response = client.get(exercise.get_absolute_url())
        assert response.status_code == 200
        text = response.content.decode()
        assert "RMSNormScratch" in text
        assert "<p>Write it.</p>" in text
        assert "def backward" in text

    def test_an_unpublished_exercise_is_for_authors(
        self, client: Client, exercise: Exercise
    ) -> None:
        Exercise.objects.update(is_published=False)
        assert client.get(exercise.get_absolute_url()).status_code == 404

    def test_it_says_whether_a_worker_is_there(self, client: Client, exercise: Exercise) -> None:
        assert client.get(exercise.get_absolute_url()).context["track_available"] is False
        WorkerNode.objects.create(
            name="n", queue="cpu", tracks=["numpy"], last_seen_at=timezone.now()
        )
        assert client.get(exercise.get_absolute_url()).context["track_available"] is True

    def test_an_earlier_source_can_be_edited_again_by_its_owner_alone(
        self, signed_in: Client, submit: Submit, other: User
    ) -> None:
        submission = submit("x = 'earlier'")
        url = f"{submission.exercise.get_absolute_url()}?from={submission.public_id}"
        assert "earlier" in signed_in.get(url).content.decode()
        signed_in.force_login(other)
        assert "earlier" not in signed_in.get(url).content.decode()

    @pytest.mark.django_db(transaction=True)
    def test_queries_do_not_grow_with_submissions(
        self, signed_in: Client, submit: Submit, settings: Any, django_assert_max_num_queries: Any
    ) -> None:
        settings.GRADING = {**settings.GRADING, "MAX_OPEN_SUBMISSIONS_PER_LEARNER": 99}
        exercise = submit().exercise
        for number in range(12):
            submit(f"x = {number}")
        with django_assert_max_num_queries(10):
            signed_in.get(exercise.get_absolute_url())


class TestSubmitting:
    def test_a_post_leads_to_the_submissions_page(
        self, signed_in: Client, exercise: Exercise, learner: User
    ) -> None:
        response = post(signed_in, exercise, "x = 1\r\ny = 2\r\n")
        submission = Submission.objects.get()
        assert response.status_code == 303
        assert response["Location"] == submission.get_absolute_url()
        assert submission.source == "x = 1\ny = 2\n"
        assert submission.user == learner

    def test_a_file_is_graded_instead_of_the_text(
        self, signed_in: Client, exercise: Exercise
    ) -> None:
        post(signed_in, exercise, file=SimpleUploadedFile("a.py", b"from_file = 1\r\n"))
        assert Submission.objects.get().source == "from_file = 1\r\n"

    def test_a_double_click_is_one_submission_and_an_edit_after_back_is_another(
        self, signed_in: Client, exercise: Exercise
    ) -> None:
        first, second = post(signed_in, exercise), post(signed_in, exercise)
        assert first["Location"] == second["Location"]
        edited = post(signed_in, exercise, SOURCE + "# edited\n")
        assert edited["Location"] != first["Location"]
        assert Submission.objects.count() == 2

    @pytest.mark.parametrize(
        ("source", "status", "says"),
        [
            ("   ", 400, "empty"),
            ("x = 'keep me'\0", 400, "NUL byte in line 1"),
            ("# keep me\n" + "#" * 70_000, 413, "65,536"),
        ],
    )
    def test_a_refused_text_stays_in_the_form_with_the_reason(
        self, signed_in: Client, exercise: Exercise, source: str, status: int, says: str
    ) -> None:
        response = post(signed_in, exercise, source)
        text = response.content.decode()
        assert response.status_code == status
        assert says in text
        assert ("keep me" in text) == ("keep me" in source)
        assert not Submission.objects.exists()

    def test_a_refused_file_says_so_at_the_file_and_keeps_the_text(
        self, signed_in: Client, exercise: Exercise
    ) -> None:
        upload = SimpleUploadedFile("a.py", b"caf\xe9")
        response = post(signed_in, exercise, "# keep me", file=upload)
        assert response.status_code == 400
        assert "UTF-8" in str(response.context["form"]["file"].errors)
        assert "keep me" in response.content.decode()

    @pytest.mark.parametrize("multipart", [True, False])
    def test_ten_megabytes_get_a_clear_413_page(
        self, exercise: Exercise, learner: User, multipart: bool
    ) -> None:
        client = Client(enforce_csrf_checks=True)
        client.force_login(learner)
        url = reverse("grader:submit", args=[exercise.slug])
        if multipart:
            response = client.post(url, {"file": SimpleUploadedFile("a.py", b"#" * 10_000_000)})
        else:
            form = "application/x-www-form-urlencoded"
            response = client.post(url, b"source=" + b"a" * 10_000_000, content_type=form)
        assert response.status_code == 413
        assert "64 KB" in response.content.decode()

    def test_forged_posts_are_refused(self, exercise: Exercise, learner: User) -> None:
        client = Client(enforce_csrf_checks=True)
        client.force_login(learner)
        assert post(client, exercise).status_code == 403
        assert not Submission.objects.exists()

    def test_too_many_says_when_to_come_back(
        self, signed_in: Client, exercise: Exercise, settings: Any
    ) -> None:
        settings.GRADING = {**settings.GRADING, "MAX_OPEN_SUBMISSIONS_PER_LEARNER": 1}
        post(signed_in, exercise)
        response = post(signed_in, exercise, "# keep me")
        assert response.status_code == 429
        assert int(response["Retry-After"]) > 0
        assert "keep me" in response.content.decode()


class TestSubmissionPage:
    def test_it_tells_of_a_queue_that_is_down(
        self, signed_in: Client, submit: Submit, broker: FakeBroker
    ) -> None:
        broker.down = True
        text = signed_in.get(submit().get_absolute_url()).content.decode()
        assert "the grading queue is not reachable at the moment" in text
        assert "your submission is kept" in text

    def test_it_works_without_script_until_final(self, signed_in: Client, submit: Submit) -> None:
        submission = submit()
        assert "http-equiv" in signed_in.get(submission.get_absolute_url()).content.decode()
        worker.record_verdict(verdict(submission))
        assert "http-equiv" not in signed_in.get(submission.get_absolute_url()).content.decode()

    def test_the_fragment_is_sent_again_only_when_something_changed(
        self, signed_in: Client, submit: Submit
    ) -> None:
        submission = submit()
        url = submission.get_absolute_url() + "?fragment=1"
        first = signed_in.get(url)
        assert first.status_code == 200
        assert "<html" not in first.content.decode()
        again = signed_in.get(url, headers={"If-None-Match": first["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
        for tags in ("*", f'"other", W/{first["ETag"]}'):
            assert signed_in.get(url, headers={"If-None-Match": tags}).status_code == 304
        worker.record_progress(progress(submission, "running", case=1, cases=4))
        running = signed_in.get(url, headers={"If-None-Match": first["ETag"]})
        assert running.status_code == 200
        assert "Case 1 of 4" in running.content.decode()
        worker.record_verdict(verdict(submission, "wrong_answer"))
        final = signed_in.get(url, headers={"If-None-Match": running["ETag"]})
        assert "Wrong answer" in final.content.decode()

    def test_a_move_in_the_queue_is_a_change(
        self, signed_in: Client, submit: Submit, other: User
    ) -> None:
        ahead = submit("x = 1", user=other)
        url = submit().get_absolute_url() + "?fragment=1"
        second = signed_in.get(url)
        assert "Position 2" in second.content.decode()
        worker.record_verdict(verdict(ahead))
        first = signed_in.get(url, headers={"If-None-Match": second["ETag"]})
        assert "Position 1" in first.content.decode()

    def test_mistakes_lead_into_the_chapter(
        self, signed_in: Client, submit: Submit, chapter: Chapter
    ) -> None:
        submission = submit()
        worker.record_verdict(verdict(submission, "wrong_answer"))
        text = signed_in.get(submission.get_absolute_url()).content.decode()
        assert f"{chapter.get_absolute_url()}#formula-rmsnorm" in text
        assert "#step-definition" in text

    def test_each_line_of_the_source_has_an_address(
        self, signed_in: Client, submit: Submit
    ) -> None:
        submission = submit("a = '<script>alert(1)</script>'\nb = 2\n")
        text = signed_in.get(submission.get_absolute_url()).content.decode()
        assert 'id="source-line-2"' in text
        assert "<script>alert" not in text

    def test_a_source_of_very_many_lines_is_shown(self, signed_in: Client, submit: Submit) -> None:
        submission = submit("a<b\n" * 16_000)
        response = signed_in.get(submission.get_absolute_url())
        assert "a&lt;b" in response.content.decode()
        assert len(response.content) < 300_000

    def test_what_the_platform_failed_to_grade_can_be_sent_again(
        self, signed_in: Client, submit: Submit
    ) -> None:
        submission = submit()
        worker.record_verdict(verdict(submission, "not_gradable"))
        url = reverse("grader:resubmit", args=[submission.public_id])
        assert signed_in.get(url).status_code == 405
        assert signed_in.post(url).status_code == 303
        submission.refresh_from_db()
        assert submission.state == "queued"
        assert signed_in.post(url).status_code == 303  # Twice is no error, and no second attempt.
        assert submission.attempts.count() == 2
        assert AuditEntry.objects.filter(action="submission.resubmitted").count() == 1

    def test_polling_needs_few_queries(
        self, signed_in: Client, submit: Submit, django_assert_max_num_queries: Any
    ) -> None:
        url = submit().get_absolute_url() + "?fragment=1"
        with django_assert_max_num_queries(7):
            signed_in.get(url)


class TestPermissions:
    PLACES = ("grader:submission", "grader:source")

    @pytest.mark.parametrize("name", PLACES)
    def test_others_and_strangers_find_nothing(
        self, client: Client, submit: Submit, learner: User, other: User, name: str
    ) -> None:
        submission = submit()
        url = reverse(name, args=[submission.public_id])
        client.force_login(learner)
        assert client.get(url).status_code == 200
        etag = client.get(url + "?fragment=1").headers.get("ETag", "")
        client.force_login(other)
        for address in (url, url + "?fragment=1"):
            response = client.get(address, headers={"If-None-Match": etag})
            assert response.status_code == 404
            assert "ETag" not in response.headers

    @pytest.mark.parametrize("name", PLACES)
    def test_visitors_are_sent_to_sign_in_whatever_the_id(
        self, client: Client, submit: Submit, name: str
    ) -> None:
        for public_id in (submit().public_id, "a" * 16):
            url = reverse(name, args=[public_id])
            response = client.get(url)
            assert response.status_code == 302
            assert response["Location"] == f"{reverse('account_login')}?next={url}"
            polled = client.get(url + "?fragment=1")
            assert (polled.status_code, "Location" in polled.headers) == (401, False)

    @pytest.mark.parametrize("name", PLACES)
    def test_graders_see_all(self, client: Client, submit: Submit, grader: User, name: str) -> None:
        client.force_login(grader)
        assert client.get(reverse(name, args=[submit().public_id])).status_code == 200

    def test_others_cannot_send_it_again(self, client: Client, submit: Submit, other: User) -> None:
        submission = submit()
        worker.record_verdict(verdict(submission, "not_gradable"))
        client.force_login(other)
        url = reverse("grader:resubmit", args=[submission.public_id])
        assert client.post(url).status_code == 404
        submission.refresh_from_db()
        assert submission.outcome == "not_gradable"

    def test_the_list_holds_ones_own_only(
        self, client: Client, submit: Submit, other: User, grader: User
    ) -> None:
        mine, theirs = submit("x = 1"), submit("x = 2", user=other)
        client.force_login(other)
        text = client.get(reverse("grader:submissions")).content.decode()
        assert theirs.public_id in text
        assert mine.public_id not in text
        client.logout()
        assert client.get(reverse("grader:submissions")).status_code == 302

    def test_the_source_is_a_download_of_plain_text(
        self, signed_in: Client, submit: Submit
    ) -> None:
        submission = submit("# é\n")
        response = signed_in.get(reverse("grader:source", args=[submission.public_id]))
        assert response.content == "# é\n".encode()
        assert response["Content-Type"] == "text/plain; charset=utf-8"
        assert response["Content-Disposition"].startswith("attachment;")
        assert response["X-Content-Type-Options"] == "nosniff"

    @pytest.mark.parametrize("public_id", ["1", "a" * 15, "A" * 16, "%00" * 16, "../../etc"])
    def test_an_odd_id_is_not_found(self, signed_in: Client, public_id: str) -> None:
        assert signed_in.get(f"/submissions/{public_id}/").status_code == 404


class TestPanels:
    def request(self, rf: Any, user: Any) -> Any:
        request = rf.get("/")
        request.user = user
        return request

    def test_a_chapters_exercises_show_the_best_and_the_last_result(
        self,
        rf: Any,
        submit: Submit,
        learner: User,
        chapter: Chapter,
        django_assert_num_queries: Any,
    ) -> None:
        worker.record_verdict(verdict(submit("x = 1")))
        worker.record_verdict(verdict(submit("x = 2"), "wrong_answer"))
        last = submit("x = 3")
        with django_assert_num_queries(1):
            panel = panels.exercises_panel(self.request(rf, learner), chapter)
        assert panel is not None
        [entry] = panel.context["exercises"]
        assert (entry["best"].outcome, entry["best"].score) == ("accepted", 1.0)
        assert (entry["last"].public_id, entry["last"].state) == (last.public_id, "queued")
        assert entry["spec"].class_name == "RMSNormScratch"

    def test_a_visitor_sees_the_exercises_without_results(
        self, rf: Any, exercise: Exercise, chapter: Chapter, django_assert_num_queries: Any
    ) -> None:
        from django.contrib.auth.models import AnonymousUser

        with django_assert_num_queries(1):
            panel = panels.exercises_panel(self.request(rf, AnonymousUser()), chapter)
        assert panel is not None
        assert panel.context["exercises"][0]["best"] is None

    def test_a_chapter_without_exercises_has_no_panel(
        self, rf: Any, learner: User, chapter: Chapter
    ) -> None:
        assert panels.exercises_panel(self.request(rf, learner), chapter) is None

    def test_the_dashboard_shows_recent_verdicts(self, signed_in: Client, submit: Submit) -> None:
        submission = submit()
        worker.record_verdict(verdict(submission))
        text = signed_in.get(reverse("courses:dashboard")).content.decode()
        assert submission.get_absolute_url() in text
        assert "Accepted" in text
