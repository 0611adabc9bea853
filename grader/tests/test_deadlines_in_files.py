"""Deadlines in exercise files: loaded, moved, and left alone once set by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from courses.models import Chapter
from grader.content import ExerciseFileError, read
from grader.models import Exercise
from grader.services.exercises import load_exercise

NOON = datetime(2027, 5, 31, 12, 0, tzinfo=UTC)


class TestFiles:
    TEXT = "slug: rmsnorm\ntitle: T\nchapter: a-chapter\nsummary: S\nstatement: S\n"

    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        return tmp_path / "rmsnorm.yaml"

    def load(self, file: Path, line: str = "", **kwargs: bool) -> Exercise:
        file.write_text(self.TEXT + line, encoding="utf-8")
        load_exercise(read(file), **kwargs)
        return Exercise.objects.get(slug="rmsnorm")

    def test_a_deadline_is_loaded_moved_and_removed(self, file: Path, chapter: Chapter) -> None:
        assert self.load(file, "due_at: 2027-05-31T14:00:00+02:00\n").due_at == NOON
        assert self.load(file, "due_at: 2027-05-31T12:00:01Z\n").due_at == NOON + timedelta(
            seconds=1
        )
        assert self.load(file).due_at is None

    def test_one_that_was_set_by_hand_stays_and_texts_are_still_loaded(
        self, file: Path, chapter: Chapter
    ) -> None:
        self.load(file)
        Exercise.objects.update(due_at=NOON)
        self.TEXT = self.TEXT.replace("title: T", "title: New")
        exercise = self.load(file)
        assert (exercise.title, exercise.due_at) == ("New", NOON)
        own = "due_at: 2028-01-01T00:00:00Z\n"
        assert self.load(file, own).due_at == NOON
        assert self.load(file, force=True).due_at == NOON
        assert self.load(file, own, force=True).due_at == datetime(2028, 1, 1, tzinfo=UTC)

    def test_texts_that_were_edited_stay_and_the_deadline_is_still_loaded(
        self, file: Path, chapter: Chapter
    ) -> None:
        self.load(file)
        Exercise.objects.update(title="By hand")
        exercise = self.load(file, "due_at: 2027-05-31T12:00:00Z\n")
        assert (exercise.title, exercise.due_at) == ("By hand", NOON)

    @pytest.mark.parametrize("text", ["2027-05-31T12:00:00", "2027-05-31", "tomorrow"])
    def test_a_moment_without_a_time_zone_is_refused(self, file: Path, text: str) -> None:
        file.write_text(f"{self.TEXT}due_at: {text}\n", encoding="utf-8")
        with pytest.raises(ExerciseFileError, match="due_at"):
            read(file)
