"""Exercises are published by a check, which workers do a few steps at a time."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from courses.models import Chapter
from gpu_worker.checking import Fate, SandboxError, Zygote
from gpu_worker.exercises import get
from gpu_worker.exercises.digests import content_digest
from gpu_worker.messages.checks import CheckJob, CheckUpdate
from gpu_worker.messages.queues import PRIORITY_REGRADE, QUEUE_CPU
from gpu_worker.tests.conftest import RIGHT
from gpu_worker.worker import exercise_checks
from grader import services, tasks
from grader.models import AuditAction, AuditEntry, CheckState, Exercise, ExerciseCheck
from grader.services.exercises import save_exercise
from grader.services.publishing import Answer, publish_exercise, standing_of

from .conftest import FakeBroker
from .messages import worker

ADD = "admin:grader_exercise_add"
DATA = {
    "slug": "rmsnorm",
    "title": "T",
    "position": "0",
    "summary": "S",
    "statement": "Given $x$.",
    "is_published": "on",
    "accepts_submissions": "on",
}
HIDDEN = {name: value for name, value in DATA.items() if name != "is_published"}

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(db: None) -> User:
    return User.objects.create_superuser("root", password="root-password")


@pytest.fixture
def admin(client: Client, root: User) -> Client:
    client.force_login(root)
    return client


@pytest.fixture(autouse=True)
def _everything_is_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits for a commit is done at once: the test's own transaction never ends."""
    monkeypatch.setattr("django.db.transaction.on_commit", lambda act, robust=False: act())


@pytest.fixture
def few_submissions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """RMSNorm with one stored submission of each kind, in the folder returned."""
    exercise = get("rmsnorm")
    reference = "reference_numpy.py"
    (tmp_path / reference).write_bytes((exercise.folder / reference).read_bytes())
    for kind, outcome, source in (
        ("correct", "accepted", RIGHT),
        ("wrong", "wrong_answer", RIGHT.replace(" + self.eps", "")),
    ):
        folder = tmp_path / "submissions" / kind
        folder.mkdir(parents=True)
        (folder / "one.py").write_text(f"# outcome: {outcome}\n{source}", encoding="utf-8")
    few = dataclasses.replace(exercise, folder=tmp_path)
    monkeypatch.setattr("grader.services.publishing.find_spec", lambda slug: few)
    monkeypatch.setattr("gpu_worker.worker.exercise_checks.get", lambda slug: few)
    return tmp_path


def found(job: dict[str, Any], **said: Any) -> CheckUpdate:
    """What a worker answers that found nothing wrong in any of ten steps."""
    said = {"next": 10, "steps": 10, "stored": 6, "graded": 10 - job["first"], **said}
    said.setdefault("digest", job["digest"])
    return CheckUpdate(check=job["check"], lease=job["lease"], node="n", first=job["first"], **said)


def let_workers_check(broker: FakeBroker) -> None:
    """Do what workers do, until nothing waits any more."""
    with Zygote() as zygote:
        while broker.checks:
            job = CheckJob.from_message(broker.checks.pop(0))
            worker.record_check(exercise_checks.take(job, zygote).to_message())


def published(client: Client, **changes: str) -> ExerciseCheck:
    """Ask for an exercise to be published; return its check."""
    response = client.post(reverse(ADD), {**DATA, **changes})
    assert response.status_code == 302, response.context["errors"]
    return ExerciseCheck.objects.latest("id")


def listed(client: Client) -> str:
    return client.get(reverse("admin:grader_exercise_changelist")).content.decode()


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


def publish(exercise: Exercise, **options: Any) -> Answer:
    exercise.refresh_from_db()
    with transaction.atomic():
        return publish_exercise(exercise, standing_of(exercise.slug), **options)


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


# --- the command ----------------------------------------------------------------------------------
def command(*arguments: str) -> str:
    out = StringIO()
    call_command("publish_exercise", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def loaded() -> Exercise:
    return save_exercise(Exercise(slug="rmsnorm", title="T", summary="S", statement="S"))


def test_the_command_waits_for_workers_and_says_how_far_they_are(
    loaded: Exercise,
    broker: FakeBroker,
    few_submissions: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def work(seconds: float) -> None:
        first = broker.checks[-1]["first"]
        services.record_check(found(broker.checks[-1], next=min(first + 5, 10)))

    monkeypatch.setattr("grader.management.commands.publish_exercise.sleep", work)
    text = command("rmsnorm")
    assert "rmsnorm: is being checked: 5 of 10 programs graded\nrmsnorm: published" in text
    loaded.refresh_from_db()
    assert loaded.is_published
    entry = AuditEntry.objects.get(action=AuditAction.EXERCISE_PUBLISHED)
    assert (entry.actor, entry.origin) == (None, "server")
    assert command("rmsnorm") == "rmsnorm: published\n"


def test_the_command_fails_with_the_reason(
    loaded: Exercise,
    broker: FakeBroker,
    few_submissions: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def work(seconds: float) -> None:
        services.record_check(found(broker.checks[-1], survived="one with line 3 changed"))

    monkeypatch.setattr("grader.management.commands.publish_exercise.sleep", work)
    with pytest.raises(CommandError, match="rmsnorm: The cases miss a mistake: one with line 3"):
        command("rmsnorm")
    for path in few_submissions.glob("submissions/*/*.py"):
        path.unlink()
    with pytest.raises(CommandError, match="has no stored submissions"):
        command("rmsnorm")
    with pytest.raises(CommandError, match="There is no exercise nothing here"):
        command("nothing")


def test_the_command_that_is_interrupted_leaves_the_check_to_go_on(
    loaded: Exercise,
    broker: FakeBroker,
    few_submissions: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("grader.management.commands.publish_exercise.sleep", interrupt)
    with pytest.raises(CommandError, match="The check of rmsnorm goes on") as error:
        command("rmsnorm")
    assert error.value.returncode == 130
    assert services.record_check(found(broker.checks[0]))


def test_the_command_need_not_wait(
    loaded: Exercise, broker: FakeBroker, few_submissions: Path
) -> None:
    assert command("rmsnorm", "--no-wait") == "rmsnorm: is being checked\n"
    assert len(broker.checks) == 1
    loaded.refresh_from_db()
    assert not loaded.is_published


# --- files that say `published: true` -------------------------------------------------------------
class TestFiles:
    @pytest.fixture(autouse=True)
    def file(self, tmp_path_factory: pytest.TempPathFactory, few_submissions: Path) -> Path:
        self.path = tmp_path_factory.mktemp("files") / "rmsnorm.yaml"
        self.write()
        return self.path

    def write(self, published: str = "true", statement: str = "S") -> None:
        self.path.write_text(
            f"slug: rmsnorm\ntitle: T\nsummary: S\nstatement: {statement}\npublished: {published}\n"
        )

    def load(self, *arguments: str) -> str:
        out = StringIO()
        call_command("load_exercises", str(self.path), *arguments, stdout=out, stderr=out)
        return out.getvalue()

    def is_published(self) -> bool:
        return Exercise.objects.get().is_published

    def test_it_waits_for_its_check_which_the_scheduler_begins(self, broker: FakeBroker) -> None:
        text = self.load()
        assert text == "rmsnorm: created\n  Not published: waits for its turn\n"
        # What prepares a database may have no queue.
        assert broker.checks == []
        tasks.advance_checks()
        text = self.load()
        assert text == "rmsnorm: unchanged\n  Not published: is being checked: waits for a worker\n"
        assert len(broker.checks) == 1
        services.record_check(found(broker.checks[0]))
        assert self.is_published()
        assert self.load() == "rmsnorm: unchanged\n"

    def test_what_is_refused_stays_unpublished_with_its_reason(
        self,
        admin: Client,
        broker: FakeBroker,
        few_submissions: Path,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        self.load()
        tasks.advance_checks()
        services.record_check(found(broker.checks[0], complaints=["One is wrong."]))
        assert "The exercise rmsnorm was not published. One stored submission" in caplog.text
        for _ in range(2):
            text = self.load()
            assert "unchanged\n  Not published: One stored submission is not graded as" in text
        assert not self.is_published()
        assert len(broker.checks) == 1
        change = reverse("admin:grader_exercise_change", args=[Exercise.objects.get().pk])
        assert "One stored submission is not graded as" in admin.get(change).content.decode()
        # Its files have changed: the next load asks again.
        (few_submissions / "submissions" / "wrong" / "one.py").write_text("# outcome: accepted\n")
        assert "waits for its turn" in self.load()
        tasks.advance_checks()
        services.record_check(found(broker.checks[1]))
        assert self.is_published()

    def test_what_cannot_be_checked_says_why_once(self, few_submissions: Path) -> None:
        for path in few_submissions.glob("submissions/*/*.py"):
            path.unlink()
        for _ in range(2):
            assert "Not published: rmsnorm has no stored submissions" in self.load()
        assert ExerciseCheck.objects.count() == 1
        assert not self.is_published()

    def test_other_texts_do_not_ask_again(self, broker: FakeBroker) -> None:
        self.load()
        self.write(statement="Other")
        assert "updated\n  Not published: waits for its turn" in self.load()
        assert ExerciseCheck.objects.count() == 1
        tasks.advance_checks()
        services.record_check(found(broker.checks[0]))
        self.write(statement="Another")
        assert self.load() == "rmsnorm: updated\n"
        assert self.is_published()

    def test_a_file_that_takes_it_back_withdraws_the_check(self, broker: FakeBroker) -> None:
        self.load()
        tasks.advance_checks()
        self.write(published="false")
        assert self.load() == "rmsnorm: updated\n"
        assert not services.record_check(found(broker.checks[0]))
        assert not self.is_published()
        assert self.load() == "rmsnorm: unchanged\n"

    def test_what_an_author_asked_for_or_took_back_is_left_alone(
        self, admin: Client, broker: FakeBroker
    ) -> None:
        self.write(published="false")
        self.load()
        change = reverse("admin:grader_exercise_change", args=[Exercise.objects.get().pk])
        form = {**DATA, "summary": "S", "statement": "S"}
        admin.post(change, form)
        assert self.load() == "rmsnorm: unchanged\n"
        services.record_check(found(broker.checks[0]))
        assert "kept as edited in the admin" in self.load()
        assert self.is_published()
        self.write()
        assert "updated" in self.load("--force")
        admin.post(change, {name: text for name, text in form.items() if name != "is_published"})
        assert "kept as edited in the admin" in self.load()
        assert not self.is_published()
        assert len(broker.checks) == 1

    def test_unticking_takes_back_what_a_file_asked_for(
        self, admin: Client, broker: FakeBroker
    ) -> None:
        self.load()
        tasks.advance_checks()
        change = reverse("admin:grader_exercise_change", args=[Exercise.objects.get().pk])
        assert admin.get(change).context["adminform"].form["is_published"].value()
        form = {**HIDDEN, "summary": "S", "statement": "S"}
        assert "withdrawn" in admin.post(change, form, follow=True).content.decode()
        assert not services.record_check(found(broker.checks[0]))
        assert "kept as edited in the admin" in self.load()
        assert not self.is_published()


# --- what comes checked with LearnML --------------------------------------------------------------
def test_it_is_published_at_once_and_once(broker: FakeBroker) -> None:
    out = StringIO()
    call_command("load_exercises", stdout=out)
    assert "Not published" not in out.getvalue()
    assert not Exercise.objects.filter(is_published=False).exists()
    assert set(ExerciseCheck.objects.values_list("state", flat=True)) == {CheckState.PASSED}
    call_command("load_exercises", stdout=StringIO())
    assert ExerciseCheck.objects.count() == Exercise.objects.count()
    tasks.advance_checks()
    assert broker.checks == []


def test_what_was_recorded_is_published_only_as_it_was_recorded(
    loaded: Exercise, few_submissions: Path, broker: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"rmsnorm": content_digest(few_submissions)}
    monkeypatch.setattr("grader.services.publishing.checked", lambda: known)
    (few_submissions / "submissions" / "correct" / "two.py").write_text("# outcome: accepted\n")
    assert publish(loaded) is Answer.CHECKING
    (few_submissions / "submissions" / "correct" / "two.py").unlink()
    assert publish(loaded) is Answer.PUBLISHED
    assert ExerciseCheck.objects.filter(state=CheckState.WITHDRAWN).count() == 1
    assert not services.record_check(found(broker.checks[0]))
