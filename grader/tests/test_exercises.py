from __future__ import annotations

import dataclasses
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from courses.models import Chapter
from gpu_worker.exercises import get
from gpu_worker.messages.queues import QUEUE_CPU, QUEUE_GPU
from gpu_worker.tests.conftest import RIGHT
from grader import content
from grader.models import AuditAction, AuditEntry, Exercise, NodeKind, Track
from grader.registry import find_spec
from grader.services.exercises import render_outdated, save_exercise

FILE = """\
slug: rmsnorm
title: RMSNorm from scratch
chapter: a-chapter
summary: |
  Write it with $x_i$.
statement: |
  Given $x$, compute

  $$y = \\frac{x}{\\sqrt{\\frac{1}{D}\\sum_i x_i^2 + \\epsilon}}$$
published: true
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rmsnorm.yaml"
    path.write_text(FILE, encoding="utf-8")
    return path


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
    monkeypatch.setattr("grader.management.commands.check_exercises.get", lambda slug: few)
    return tmp_path


def load(*args: str | Path) -> str:
    out = StringIO()
    call_command("load_exercises", *map(str, args), stdout=out, stderr=out)
    return out.getvalue()


@pytest.mark.django_db
class TestLoading:
    def test_a_file_becomes_an_exercise_with_rendered_mathematics(
        self, file: Path, chapter: Chapter
    ) -> None:
        assert "created" in load(file)
        exercise = Exercise.objects.get()
        assert exercise.chapter == chapter
        assert "katex" in exercise.statement_html
        assert "style=" not in exercise.statement_html
        assert exercise.stylesheet is not None

    def test_loading_again_changes_nothing(self, file: Path, chapter: Chapter) -> None:
        load(file)
        before = Exercise.objects.values().get()
        assert "unchanged" in load(file)
        assert Exercise.objects.values().get() == before

    def test_a_changed_file_is_taken(self, file: Path, chapter: Chapter) -> None:
        load(file)
        file.write_text(FILE.replace("Given", "For a given"), encoding="utf-8")
        assert "updated" in load(file)
        assert "For a given" in Exercise.objects.get().statement_html

    def test_an_edit_in_the_admin_is_kept_unless_forced(self, file: Path, chapter: Chapter) -> None:
        load(file)
        Exercise.objects.update(title="Edited by hand")
        assert "--force" in load(file)
        assert Exercise.objects.get().title == "Edited by hand"
        load(file, "--force")
        assert Exercise.objects.get().title == "RMSNorm from scratch"

    def test_saving_the_form_as_it_came_is_no_edit(
        self, file: Path, chapter: Chapter, client: Client
    ) -> None:
        load(file)
        # A file that is loaded unpublished needs no check before it can be saved.
        Exercise.objects.update(is_published=True)
        before = Exercise.objects.get()
        assert "\n" in before.statement
        client.force_login(User.objects.create_superuser("root", password="root-password"))
        url = reverse("admin:grader_exercise_change", args=[before.pk])
        form = client.get(url).context["adminform"].form
        # Browsers send the line ends of HTTP.
        data = {
            field.html_name: str(field.value()).replace("\n", "\r\n")
            for field in form
            if field.value() is not None and field.value() is not False
        }
        answer = client.post(url, data | {"due_at_0": "", "due_at_1": ""})
        assert answer.status_code == 302, answer.context["errors"]
        after = Exercise.objects.get()
        assert (after.summary, after.statement) == (before.summary, before.statement)
        assert not AuditEntry.objects.filter(action=AuditAction.EXERCISE_CHANGED).exists()
        assert "unchanged" in load(file)
        data["statement"] += "More.\r\n"
        client.post(url, data | {"due_at_0": "", "due_at_1": ""})
        assert Exercise.objects.get().statement == before.statement + "More.\n"
        assert AuditEntry.objects.filter(action=AuditAction.EXERCISE_CHANGED).count() == 1

    def test_a_chapter_loaded_later_is_linked_by_the_next_load(self, file: Path) -> None:
        load(file)
        assert Exercise.objects.get().chapter is None
        from courses.models import Course

        course = Course.objects.create(slug="c", title="C")
        chapter = Chapter.objects.create(course=course, slug="a-chapter", title="A chapter")
        assert "updated" in load(file)
        assert Exercise.objects.get().chapter == chapter
        assert "unchanged" in load(file)

    @pytest.mark.parametrize(
        ("old", "new", "says"),
        [
            ("title:", "titel:", "titel|title"),
            ("slug: rmsnorm", "slug: layernorm", "layernorm.yaml"),
            ("published: true", "published: perhaps", "published"),
            ("slug: rmsnorm", "slug: [", "cannot be read"),
            ("\\sqrt{", "\\sqroot{", "Line 3"),
        ],
    )
    def test_a_bad_file_is_refused_with_the_place(
        self, file: Path, chapter: Chapter, old: str, new: str, says: str
    ) -> None:
        file.write_text(FILE.replace(old, new), encoding="utf-8")
        with pytest.raises(CommandError, match=says):
            load(file)
        assert not Exercise.objects.exists()


def test_a_file_that_is_not_there_is_named_with_what_to_give_instead() -> None:
    with pytest.raises(CommandError, match=r"^rmsnorm: there is no such file\. Name YAML files"):
        load("rmsnorm")


@pytest.mark.django_db
def test_the_library_loads_and_the_engine_grades_all_of_it() -> None:
    load()
    slugs = [path.stem for path in content.files()]
    assert set(slugs) >= {"rmsnorm", "layernorm"}
    assert sorted(Exercise.objects.values_list("slug", flat=True)) == slugs
    for slug in slugs:
        assert find_spec(slug) is not None


class TestCheckExercises:
    def run(self, *args: str) -> str:
        out = StringIO()
        call_command("check_exercises", *args, stdout=out)
        return out.getvalue()

    @pytest.mark.usefixtures("few_submissions")
    def test_it_prints_the_results_of_submissions_and_mutants(self) -> None:
        text = self.run("rmsnorm", "--mutants", "3")
        assert "rmsnorm, numpy: 1 correct and 1 wrong submissions, 0 not graded" in text
        row = next(line for line in text.splitlines() if line.strip().startswith("all "))
        assert sum(map(int, row.split()[1:])) == 3

    def test_each_track_has_its_line_and_its_mutants(self, few_submissions: Path) -> None:
        folder = few_submissions / "submissions" / "cupy" / "correct"
        folder.mkdir(parents=True)
        name = "array_expressions.py"
        source = get("rmsnorm").folder / "submissions" / "cupy" / "correct" / name
        (folder / name).write_bytes(source.read_bytes())
        text = self.run("rmsnorm", "--mutants", "1")
        assert "rmsnorm, cupy: 1 correct and 0 wrong submissions, 0 not graded" in text
        assert any(line.split()[:1] == ["cupy/array_expressions"] for line in text.splitlines())

    def test_it_fails_where_the_cases_do_not_tell_wrong_from_right(
        self, few_submissions: Path
    ) -> None:
        path = few_submissions / "submissions" / "correct" / "one.py"
        path.write_text(f"# outcome: accepted\n{RIGHT.replace('+ self.eps', '+ 1')}")
        with pytest.raises(CommandError, match="cannot tell wrong from right"):
            self.run("rmsnorm", "--mutants", "0")

    def test_an_unknown_exercise_is_named(self) -> None:
        with pytest.raises(CommandError, match="no exercise 'nothing'"):
            self.run("nothing")


def test_a_processors_verdict_on_kernels_counts_unless_a_device_is_required(settings: Any) -> None:
    assert [kind.queue for kind in NodeKind] == [QUEUE_CPU, QUEUE_GPU]
    assert (Track.NUMPY.kind, Track.NUMPY.second_kind) == (NodeKind.FUNCTIONAL, None)
    assert (Track.CUPY.kind, Track.CUPY.second_kind) == (NodeKind.FUNCTIONAL, NodeKind.DEVICE)
    settings.GRADING = {**settings.GRADING, "CUPY_REQUIRES_DEVICE": True}
    assert (Track.NUMPY.kind, Track.NUMPY.second_kind) == (NodeKind.FUNCTIONAL, None)
    assert (Track.CUPY.kind, Track.CUPY.second_kind) == (NodeKind.DEVICE, NodeKind.FUNCTIONAL)


class TestOpenToLearners:
    @pytest.fixture
    def submission(self, submit: Any) -> Any:
        return submit()

    def test_an_exercise_is_closed_with_its_chapter_and_opens_with_it(
        self, client: Client, learner: User, exercise: Exercise, chapter: Chapter, submission: Any
    ) -> None:
        client.force_login(learner)
        rest = f"/api/v1/exercises/{exercise.slug}/"
        for published, status in ((False, 404), (True, 200)):
            chapter.published = published
            chapter.save()
            assert client.get(exercise.get_absolute_url()).status_code == status
            assert client.get(rest).status_code == status
            assert len(client.get("/api/v1/exercises/").json()) == published
            # What was sent before stays to be read, without a link that leads to nothing.
            verdict = client.get(submission.get_absolute_url())
            linked = f'href="{exercise.get_absolute_url()}' in verdict.content.decode()
            assert (verdict.status_code, linked) == (200, published)

    def test_an_exercise_of_no_chapter_is_open(self, client: Client, exercise: Exercise) -> None:
        Exercise.objects.update(chapter=None)
        assert client.get(exercise.get_absolute_url()).status_code == 200

    def test_they_come_in_the_order_of_the_course(
        self, client: Client, admin_client: Client, exercise: Exercise, chapter: Chapter
    ) -> None:
        # The names and the places within a chapter would give another order.
        later = Chapter.objects.create(
            course=chapter.course, slug="later", title="Later", position=chapter.position + 1
        )
        expected = ["rmsnorm", "layernorm", "a-first", "without"]
        rows = (("layernorm", chapter, 2), ("a-first", later, 1), ("without", None, 0))
        for slug, place, position in rows:
            Exercise.objects.create(
                slug=slug, title=slug, chapter=place, position=position, is_published=True
            )
        listed = client.get("/api/v1/exercises/").json()
        assert [each["slug"] for each in listed] == expected
        page = admin_client.get(reverse("admin:grader_exercise_changelist"))
        assert [each.slug for each in page.context["cl"].result_list] == expected


@pytest.mark.django_db
def test_statements_of_an_older_renderer_are_rendered_again() -> None:
    mine = save_exercise(Exercise(slug="mine", title="Mine", statement="Write `x`."))
    broken = save_exercise(Exercise(slug="broken", title="Broken", statement="Fine."))
    Exercise.objects.filter(pk=mine.pk).update(statement_html="old", renderer_version=1)
    Exercise.objects.filter(pk=broken.pk).update(
        statement="$\\frac$", statement_html="old", renderer_version=1
    )
    assert list(render_outdated()) == ["broken"]
    assert 'translate="no"' in Exercise.objects.get(slug="mine").statement_html
    assert Exercise.objects.get(slug="broken").statement_html == "old"
