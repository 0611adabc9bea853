"""Files that say `published: true`, and what comes checked with LearnML."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from gpu_worker.exercises.digests import content_digest
from grader import services, tasks
from grader.models import CheckState, Exercise, ExerciseCheck
from grader.services.publishing import Answer
from grader.tests.conftest import FakeBroker

from .checks import DATA, HIDDEN, found, publish

pytestmark = pytest.mark.django_db


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
