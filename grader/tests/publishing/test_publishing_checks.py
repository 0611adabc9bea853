"""How a check is asked for, answered, repeated and withdrawn."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from courses.models import Chapter
from gpu_worker.checking import Fate, SandboxError, Zygote
from gpu_worker.messages.checks import CheckJob, CheckUpdate
from gpu_worker.messages.queues import PRIORITY_REGRADE, QUEUE_CPU
from gpu_worker.tests.conftest import RIGHT
from gpu_worker.worker import exercise_checks
from grader import services, tasks
from grader.models import AuditAction, AuditEntry, CheckState, Exercise, ExerciseCheck
from grader.services.exercises import save_exercise
from grader.services.publishing import Answer, standing_of
from grader.tests.conftest import FakeBroker

from .checks import ADD, DATA, HIDDEN, found, let_workers_check, listed, publish, published

pytestmark = pytest.mark.django_db


def test_saving_renders_and_asks_workers_before_learners_see_it(
    admin: Client, chapter: Chapter, few_submissions: Path, broker: FakeBroker, root: User
) -> None:
    published(admin, chapter=str(chapter.pk))
    exercise = Exercise.objects.get()
    assert "katex" in exercise.statement_html
    assert exercise.chapter_slug == chapter.slug
    assert not exercise.is_published
    # Behind every grading that a learner waits for.
    assert broker.check_queues == [(QUEUE_CPU, PRIORITY_REGRADE)]
    assert "waits for a worker" in listed(admin)
    let_workers_check(broker)
    exercise.refresh_from_db()
    assert exercise.is_published
    assert exercise.history.latest().history_user == root
    changed = AuditEntry.objects.get(action=AuditAction.EXERCISE_CHANGED)
    assert (changed.target, changed.origin, changed.before) == ("exercise:rmsnorm", "page", None)
    assert changed.after["title"] == "T"
    entry = AuditEntry.objects.get(action=AuditAction.EXERCISE_PUBLISHED)
    assert (entry.target, entry.actor) == ("exercise:rmsnorm", root)
    assert (entry.before, entry.after) == ({"is_published": False}, {"is_published": True})
    data = {**HIDDEN, "chapter": chapter.pk, "title": "Title", "statement": "S" * 3_000}
    change = reverse("admin:grader_exercise_change", args=[exercise.pk])
    assert admin.post(change, {**data, "is_published": "on"}).status_code == 302
    changed = AuditEntry.objects.filter(action=AuditAction.EXERCISE_CHANGED).latest("id")
    assert changed.before == {"title": "T", "statement": "Given $x$."}
    assert changed.after == {"title": "Title", "statement": f"{'S' * 2_000} [and 1,000 more]"}


def test_whoever_asked_is_told_once_how_it_ended_and_nobody_else(
    admin: Client, broker: FakeBroker, few_submissions: Path
) -> None:
    published(admin)
    other = Client()
    other.force_login(User.objects.create_superuser("other", password="other-password"))
    admin.get("/admin/")
    services.record_check(found(broker.checks[0]))
    assert "has passed" not in other.get("/admin/").content.decode()
    assert "has passed: the exercise is published" in admin.get("/admin/").content.decode()
    assert "has passed" not in admin.get("/admin/").content.decode()
    assert "passed, and published" in listed(other)


def test_the_list_says_how_far_the_check_is(
    admin: Client, broker: FakeBroker, few_submissions: Path
) -> None:
    published(admin)
    services.record_check(found(broker.checks[0], next=4))
    assert "4 of 10 programs graded" in listed(admin)
    assert [job["first"] for job in broker.checks] == [0, 4]


def test_a_submission_not_graded_as_it_should_be_forbids_publishing(
    admin: Client, broker: FakeBroker, few_submissions: Path
) -> None:
    wrong = few_submissions / "submissions" / "wrong" / "one.py"
    wrong.write_text(f"# outcome: wrong_answer\n{RIGHT}", encoding="utf-8")
    check = published(admin)
    let_workers_check(broker)
    assert not Exercise.objects.get().is_published
    said = admin.get("/admin/").content.decode()
    for text in (
        "was not published. One stored submission is not graded as it should be",
        "must end as wrong_answer, but ended as accepted",
        "check_exercises rmsnorm",
    ):
        assert text in said
    form = admin.get(reverse("admin:grader_exercise_change", args=[check.exercise_id]))
    assert "One stored submission is not graded" in form.content.decode()
    assert not form.context["adminform"].form["is_published"].value()
    # Once it is set right, asking again is enough.
    wrong.write_text(f"# outcome: accepted\n{RIGHT}", encoding="utf-8")
    url = reverse("admin:grader_exercise_change", args=[check.exercise_id])
    assert admin.post(url, DATA).status_code == 302
    let_workers_check(broker)
    assert Exercise.objects.get().is_published


def test_a_mutant_that_the_cases_miss_forbids_publishing(
    admin: Client, broker: FakeBroker, few_submissions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds: list[int | None] = []

    def survives(*args: Any) -> Fate:
        seeds.append(args[-1])
        return Fate.SURVIVED

    monkeypatch.setattr("gpu_worker.judge.strength.checks._fate", survives)
    check = published(admin)
    let_workers_check(broker)
    check.refresh_from_db()
    assert check.state == CheckState.FAILED
    assert "The cases miss a mistake: one with line" in check.reason
    assert seeds == [1, 1]


def test_no_mutant_is_looked_at_where_a_stored_submission_fails(
    admin: Client, broker: FakeBroker, few_submissions: Path
) -> None:
    check = published(admin)
    services.record_check(found(broker.checks[0], next=3, graded=3, complaints=["One is wrong."]))
    services.record_check(found(broker.checks[1], next=6, graded=3))
    check.refresh_from_db()
    assert check.state == CheckState.FAILED
    assert "One stored submission is not graded" in check.reason


def test_an_answer_that_comes_twice_or_from_elsewhere_changes_nothing(
    admin: Client, broker: FakeBroker, few_submissions: Path
) -> None:
    check = published(admin)
    first = found(broker.checks[0], next=5, graded=5)
    assert services.record_check(first)
    assert not services.record_check(first)
    assert not services.record_check(first.model_copy(update={"lease": "another", "first": 5}))
    check.refresh_from_db()
    assert (check.next_step, check.graded) == (5, 5)


def test_a_worker_that_dies_is_tried_again_from_where_it_was_and_then_given_up(
    admin: Client, broker: FakeBroker, few_submissions: Path, settings: Any
) -> None:
    check = published(admin)
    services.record_check(found(broker.checks[0], next=5, graded=5))
    for _ in range(settings.GRADING["MAX_GRADING_ATTEMPTS"]):
        assert broker.checks[-1]["first"] == 5
        services.record_check(found(broker.checks[-1], came_back=True))
    check.refresh_from_db()
    assert check.state == CheckState.FAILED
    assert "from the 6. on" in check.reason
    assert "ended over it" in check.reason
    assert len(broker.checks) == 1 + settings.GRADING["MAX_GRADING_ATTEMPTS"]


def test_a_message_that_the_broker_lost_is_sent_again(
    admin: Client, broker: FakeBroker, few_submissions: Path
) -> None:
    check = published(admin)
    later = timezone.now() + timedelta(hours=1)
    broker.backlog = 1
    assert services.advance_checks(later) == 0
    broker.backlog = 0
    assert services.advance_checks(later) == 1
    assert [job["first"] for job in broker.checks] == [0, 0]
    assert services.advance_checks(later) == 0
    check.refresh_from_db()
    assert check.tries == 1


def test_a_broker_that_is_away_costs_nothing_but_time(
    admin: Client, broker: FakeBroker, few_submissions: Path
) -> None:
    broker.down = True
    check = published(admin)
    assert broker.checks == []
    broker.down = False
    assert tasks.advance_checks() == 1
    services.record_check(found(broker.checks[0]))
    check.refresh_from_db()
    assert check.state == CheckState.PASSED


def test_one_check_runs_at_a_time_and_the_next_begins_when_it_ends(
    admin: Client, broker: FakeBroker, few_submissions: Path
) -> None:
    published(admin)
    published(admin, slug="layernorm")
    states = dict(ExerciseCheck.objects.values_list("slug", "state"))
    assert states == {"rmsnorm": CheckState.RUNNING, "layernorm": CheckState.WAITING}
    assert "waits for its turn" in listed(admin)
    services.record_check(found(broker.checks[0]))
    assert [job["exercise"] for job in broker.checks] == ["rmsnorm", "layernorm"]


def test_unticking_withdraws_the_check_and_other_edits_let_it_go_on(
    admin: Client, broker: FakeBroker, few_submissions: Path
) -> None:
    check = published(admin)
    url = reverse("admin:grader_exercise_change", args=[check.exercise_id])
    assert admin.get(url).context["adminform"].form["is_published"].value()
    assert admin.post(url, {**DATA, "title": "Other"}).status_code == 302
    assert len(broker.checks) == 1
    assert admin.post(url, HIDDEN).status_code == 302
    assert not services.record_check(found(broker.checks[0]))
    assert not Exercise.objects.get().is_published


def test_what_is_published_already_is_saved_without_a_check(
    admin: Client, broker: FakeBroker
) -> None:
    exercise = save_exercise(
        Exercise(slug="rmsnorm", title="T", summary="S", statement="S", is_published=True)
    )
    url = reverse("admin:grader_exercise_change", args=[exercise.pk])
    assert admin.post(url, {**DATA, "title": "New"}).status_code == 302
    exercise.refresh_from_db()
    assert (exercise.title, exercise.is_published) == ("New", True)
    assert broker.checks == []
    # Its slug is the name of its tests, files and addresses: it stays, whatever is sent.
    assert admin.post(url, {**DATA, "slug": "layernorm"}).status_code == 302
    exercise.refresh_from_db()
    assert (exercise.slug, exercise.is_published) == ("rmsnorm", True)
    assert broker.checks == []


def test_what_cannot_be_checked_at_all_is_refused_in_the_form(
    admin: Client, few_submissions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in few_submissions.glob("submissions/*/*.py"):
        path.unlink()
    page = admin.post(reverse(ADD), DATA).content.decode()
    assert "has no stored submissions" in page
    monkeypatch.undo()
    page = admin.post(reverse(ADD), {**DATA, "slug": "no_such_exercise"}).content.decode()
    assert "grading engine has no exercise" in page
    page = admin.post(reverse(ADD), {**DATA, "statement": "Fine.\n\nBad: $\\frac{1}{$"})
    assert "Line 3, column" in page.content.decode()
    assert not Exercise.objects.exists()


def test_a_header_that_says_nothing_is_named(
    admin: Client, broker: FakeBroker, few_submissions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (few_submissions / "submissions" / "wrong" / "one.py").write_text("x = 1\n")
    published(admin)
    sent: list[Any] = []
    monkeypatch.setattr("gpu_worker.worker.reporter.send", lambda *args, **kw: sent.append(args[2]))
    job = CheckJob.from_message(broker.checks[0])
    exercise_checks.answer(None, job, Zygote())  # type: ignore[arg-type]
    assert "one.py of rmsnorm needs a header" in sent[0].failure
    services.record_check(sent[0])
    assert "one.py of rmsnorm needs a header" in ExerciseCheck.objects.get().reason


def test_a_worker_that_cannot_run_submissions_says_so(
    admin: Client, broker: FakeBroker, few_submissions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise SandboxError("No sandbox.")

    sent: list[Any] = []
    monkeypatch.setattr("gpu_worker.worker.reporter.send", lambda *args, **kw: sent.append(args[2]))
    monkeypatch.setattr("gpu_worker.worker.exercise_checks.strength.complaint_about", broken)
    published(admin)
    job = CheckJob.from_message(broker.checks[0])
    exercise_checks.answer(None, job, Zygote())  # type: ignore[arg-type]
    services.record_check(sent[0])
    assert "could not be run: No sandbox." in ExerciseCheck.objects.get().reason


def test_steps_are_few_enough_for_a_learner_to_wait_behind(
    few_submissions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exercise_checks, "SECONDS_AT_ONCE", 0.0)
    job = CheckJob(
        check="c", lease="l", exercise="rmsnorm", digest=standing_of("rmsnorm").digest, first=1
    )
    with Zygote() as zygote:
        update = exercise_checks.take(job, zygote)
    assert (update.first, update.next, update.graded) == (1, 2, 1)
    assert update.steps == update.stored + 2
    assert not update.complaints


# --- an outcome holds while nothing has changed ---------------------------------------------------
def unpublish(check: ExerciseCheck) -> None:
    Exercise.objects.filter(pk=check.exercise_id).update(is_published=False)


def test_publishing_once_more_what_has_passed_asks_nobody(
    admin: Client, broker: FakeBroker, few_submissions: Path, root: User
) -> None:
    check = published(admin)
    services.record_check(found(broker.checks[0]))
    unpublish(check)
    change = reverse("admin:grader_exercise_change", args=[check.exercise_id])
    page = admin.post(change, DATA, follow=True).content.decode()
    assert "Saved and published: its check has passed" in page
    assert Exercise.objects.get().is_published
    assert len(broker.checks) == 1
    entries = AuditEntry.objects.filter(action=AuditAction.EXERCISE_PUBLISHED)
    assert [entry.actor for entry in entries] == [root, root]


@pytest.mark.parametrize("changed", ["submissions/correct/one.py", "reference_numpy.py"])
def test_what_has_changed_since_it_passed_is_checked_again(
    admin: Client, broker: FakeBroker, few_submissions: Path, changed: str
) -> None:
    check = published(admin)
    services.record_check(found(broker.checks[0]))
    unpublish(check)
    with (few_submissions / changed).open("a", encoding="utf-8") as file:
        file.write("\nMORE = 1\n")
    change = reverse("admin:grader_exercise_change", args=[check.exercise_id])
    admin.post(change, DATA)
    assert not Exercise.objects.get().is_published
    assert len(broker.checks) == 2
    assert broker.checks[0]["digest"] != broker.checks[1]["digest"]


def test_another_engine_checks_again(
    admin: Client, broker: FakeBroker, few_submissions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = published(admin)
    services.record_check(found(broker.checks[0]))
    unpublish(check)
    monkeypatch.setattr("gpu_worker.exercises.digests.engine_digest", lambda: "of another release")
    assert publish(check.exercise) is Answer.CHECKING


def test_a_failed_check_is_made_again_for_whoever_asks_and_not_for_a_file(
    admin: Client, broker: FakeBroker, few_submissions: Path
) -> None:
    check = published(admin)
    services.record_check(found(broker.checks[0], complaints=["One is wrong."]))
    assert publish(check.exercise, anew=False) is Answer.REFUSED
    assert publish(check.exercise) is Answer.CHECKING
    assert len(broker.checks) == 2


def test_a_check_that_found_nothing_out_is_made_again(
    admin: Client, broker: FakeBroker, few_submissions: Path
) -> None:
    check = published(admin)
    services.record_check(found(broker.checks[0], failure="No sandbox."))
    assert publish(check.exercise, anew=False) is Answer.CHECKING


# --- the exercise changes while it is checked -----------------------------------------------------
def test_an_exercise_that_changes_while_it_is_checked_is_checked_from_the_start(
    admin: Client, broker: FakeBroker, few_submissions: Path
) -> None:
    check = published(admin)
    services.record_check(found(broker.checks[0], next=5, graded=5, complaints=["One is wrong."]))
    (few_submissions / "submissions" / "wrong" / "one.py").write_text("# outcome: contract_error\n")
    # The last steps of the former state are answered, and once more.
    late = found(broker.checks[1])
    assert services.record_check(late)
    assert not services.record_check(late)
    check.refresh_from_db()
    assert (check.state, check.next_step, check.complaints) == (CheckState.RUNNING, 0, [])
    assert not Exercise.objects.get().is_published
    assert broker.checks[2]["first"] == 0
    assert broker.checks[2]["digest"] == standing_of("rmsnorm").digest != late.digest
    services.record_check(found(broker.checks[2]))
    assert Exercise.objects.get().is_published


def test_asking_again_after_a_change_begins_another_check(
    admin: Client, broker: FakeBroker, few_submissions: Path
) -> None:
    check = published(admin)
    (few_submissions / "submissions" / "wrong" / "one.py").write_text("# outcome: contract_error\n")
    change = reverse("admin:grader_exercise_change", args=[check.exercise_id])
    admin.post(change, DATA)
    check.refresh_from_db()
    assert check.state == CheckState.WITHDRAWN
    assert not services.record_check(found(broker.checks[0]))
    services.record_check(found(broker.checks[1]))
    assert Exercise.objects.get().is_published


def test_an_exercise_that_the_engine_loses_while_it_is_checked_is_not_published(
    admin: Client, broker: FakeBroker, few_submissions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = published(admin)
    monkeypatch.setattr("grader.services.publishing.find_spec", lambda slug: None)
    services.record_check(found(broker.checks[0]))
    check.refresh_from_db()
    assert (check.state, check.digest) == (CheckState.FAILED, "")
    assert "The grading engine has no exercise" in check.reason


def test_a_worker_with_other_files_grades_nothing_and_is_named(
    admin: Client, broker: FakeBroker, few_submissions: Path, settings: Any
) -> None:
    check = published(admin)
    for _ in range(settings.GRADING["MAX_GRADING_ATTEMPTS"]):
        job = CheckJob.from_message({**broker.checks[-1], "digest": "of another release"})
        update = exercise_checks.take(job, Zygote())
        assert (update.graded, update.next) == (0, 0)
        services.record_check(update.model_copy(update={"digest": "of another release"}))
    check.refresh_from_db()
    assert (check.state, check.digest) == (CheckState.FAILED, "")
    assert "has another release than the site" in check.reason


def test_a_worker_judges_by_what_it_began_with(
    few_submissions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Modules are loaded once; stored programs are read each time."""

    def answered() -> CheckUpdate:
        digest = standing_of("rmsnorm").digest
        job = CheckJob(check="c", lease="l", exercise="rmsnorm", digest=digest, first=10_000)
        return exercise_checks.take(job, Zygote())

    assert answered().steps
    with (few_submissions / "submissions" / "wrong" / "one.py").open("a") as file:
        file.write("\n# More.\n")
    assert answered().steps
    with (few_submissions / "reference_numpy.py").open("a") as file:
        file.write("\nMORE = 1\n")
    assert not answered().steps
