"""From files to the database: whole courses, one transaction per chapter, only what changed.

A chapter is identified by the id in its file (`matching.py`): whether it is renamed in the file or
in the admin, it remains the same chapter.

A chapter (or a course's own fields) that was edited in the admin since its last import is kept and
reported, unless the import is forced.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import models, transaction
from django.urls import reverse

from courses import answered, saving, services
from courses.models import (
    Chapter,
    Choice,
    Course,
    DerivationStep,
    Figure,
    Formula,
    FormulaSymbol,
    Listing,
    MatchingPair,
    MechanismStep,
    NumericHint,
    OrderingItem,
    Question,
)
from courses.pages import generation
from courses.publishing import BUILD_VERSION, build
from courses.publishing.site import Coming
from courses.rows import create_all, delete_all, update_all
from courses.saving import Renderings

from . import files, matching
from .errors import ContentError, FileError, describe
from .exporter import CHAPTER_FIELDS, course_content, stored_content
from .matching import MismatchError, repeated_ids
from .rules import broken_rules
from .schema import (
    CHAPTER_FILE,
    QUESTION_ROWS,
    ChapterContent,
    CourseContent,
    content_hash,
    to_data,
)

CHANGE_REASON = "Imported from files"
EDITED_TEXT = (
    "The files have not changed, but this was edited in the admin since the last import. The edit "
    "stays. Export it to have it in the files; importing with --force would discard it."
)
_ROW_MODELS: dict[str, type[models.Model]] = {
    "choices": Choice,
    "hints": NumericHint,
    "items": OrderingItem,
    "pairs": MatchingPair,
}
# The field by which a row names what it is a part of.
_PARENTS: dict[type[models.Model], str] = {
    **dict.fromkeys((Formula, DerivationStep, MechanismStep, Listing, Figure, Question), "chapter"),
    FormulaSymbol: "formula",
    **dict.fromkeys(_ROW_MODELS.values(), "question"),
}
OTHER_COURSE = (
    "The course “{other}” already has this chapter, as “{slug}”. Nothing was imported. Give the "
    "chapter here another slug, and no id or one of its own, which no other course uses."
)
NOT_LISTED_TEXT = (
    "course.yaml no longer lists this chapter. It stays as it is; "
    "unpublish it in the admin if learners should not see it any more."
)


class Action(Enum):
    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    KEPT = "kept"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What was done with one course or chapter, and why."""

    name: str
    action: Action
    message: str = ""


@dataclass(slots=True)
class ImportReport:
    """The results of an import, in order."""

    results: list[ImportResult] = field(default_factory=list)

    @property
    def failed(self) -> list[ImportResult]:
        return [result for result in self.results if result.action is Action.FAILED]

    def add(self, name: str, action: Action, message: str = "") -> None:
        self.results.append(ImportResult(name, action, message))


def load_course(path: Path, force: bool = False, by: User | None = None) -> ImportReport:
    """Import the course in the folder `path`; errors are in the report, chapter by chapter.

    `FileError` where there is no readable `course.yaml`, or where its id and slug disagree.
    """
    folder = files.read_folder(path)
    content = files.read_course(folder)
    report = ImportReport()
    try:
        course = matching.find(Course, content.id, content.slug)
    except MismatchError as error:
        raise FileError([f"{path / files.COURSE_FILE}: {error}"]) from error
    edited = course is not None and course.imported_content_hash != _course_hash(course)
    if course is not None and course.imported_files_hash == folder.hash and not force:
        report.add(course.slug, *((Action.KEPT, EDITED_TEXT) if edited else (Action.UNCHANGED,)))
    elif course is not None and edited and not force:
        report.add(course.slug, Action.KEPT, _kept_text("course.yaml"))
    else:
        action = Action.CREATED if course is None else Action.UPDATED
        said = _renamed_text(course, content.slug)
        course = _write_course(course, content, folder.hash)
        report.add(course.slug, action, said)
    load = _Load(course, path, content, force, by)
    changed = False
    for position in range(1, len(content.chapters) + 1):
        result = load.chapter(position)
        changed |= result.action in {Action.CREATED, Action.UPDATED}
        report.results.append(result)
    if changed or report.results[0].action in {Action.CREATED, Action.UPDATED}:
        _order_chapters(course, load.found, keep=edited and not force)
    if report.results[0].action is Action.UPDATED:
        for slug in _no_longer_listed(course, content, load.found):
            report.add(slug, Action.KEPT, NOT_LISTED_TEXT)
    return report


def _coming(path: Path, course: CourseContent) -> Coming:
    """Return the content of the course's other files, for links to chapters not imported yet."""

    @cache
    def coming(course_slug: str, chapter_slug: str) -> ChapterContent | None:
        if course_slug != course.slug or chapter_slug not in course.chapters:
            return None
        try:
            return files.read_chapter(files.read_folder(path / chapter_slug))
        except FileError:
            return None  # told of when its turn comes

    return coming


def _no_longer_listed(
    course: Course, content: CourseContent, found: Mapping[int, int]
) -> Iterable[str]:
    """List chapters that the file no longer names; they stay, with learners' answers."""
    imported = course.chapters.exclude(imported_files_hash="").exclude(slug__in=content.chapters)
    return imported.exclude(pk__in=found.values()).values_list("slug", flat=True)


def _renamed_text(row: Course | Chapter | None, slug: str) -> str:
    if row is None or row.slug == slug:
        return ""
    return f"Its address was {row.slug}; what leads there now comes to {slug}."


def _course_hash(course: Course) -> str:
    return content_hash(to_data(course_content(course)))


def _kept_text(name: str) -> str:
    return (
        f"{name} has changed, but so has this in the admin since the last import, so the admin's "
        "text was kept. Export it first if you want both, then import with --force."
    )


def _write_course(course: Course | None, content: CourseContent, files_hash: str) -> Course:
    if course is None:
        course = Course(**({} if content.id is None else {"uid": content.id}))
    course.slug, course.title, course.summary = content.slug, content.title, content.summary
    course.imported_files_hash = files_hash
    _save(course)
    return course


def _order_chapters(course: Course, found: Mapping[int, int], keep: bool) -> None:
    """Order the chapters as in the file, then note what the import left behind.

    `found` maps positions to the chapters' primary keys.
    """
    if keep:
        return
    with transaction.atomic():
        for position, pk in found.items():
            course.chapters.filter(pk=pk).exclude(position=position).update(position=position)
        Course.objects.filter(pk=course.pk).update(imported_content_hash=_course_hash(course))
        generation.advance()


def _chapters(course: Course) -> Iterable[Chapter]:
    chapters = course.chapters.exclude(imported_files_hash="")
    chapters = chapters.select_related("course", "current_revision")
    return chapters.defer(*(f"current_revision__{name}" for name in ("content", "page", "answers")))


class _Load:
    """The import of one course's chapters; `found` has the primary key of each, by position."""

    def __init__(
        self, course: Course, path: Path, content: CourseContent, force: bool, by: User | None
    ) -> None:
        self.course, self.path, self.content = course, path, content
        self.force, self.by = force, by
        self.coming = _coming(path, content)
        self.found: dict[int, int] = {}
        self._by_files = {one.imported_files_hash: one for one in _chapters(course)}

    def chapter(self, position: int) -> ImportResult:
        slug = self.content.chapters[position - 1]
        path = self.path / slug
        try:
            result, chapter = self._loaded(path, position)
        except FileError as error:
            return ImportResult(slug, Action.FAILED, str(error))
        except MismatchError as error:
            return ImportResult(slug, Action.FAILED, f"{path / CHAPTER_FILE}: {error}")
        except ContentError as error:
            text = "\n".join(f"{path}: {line}" for line in describe(error.errors))
            return ImportResult(slug, Action.FAILED, text)
        self.found[position] = chapter.pk
        return result

    def _loaded(self, path: Path, position: int) -> tuple[ImportResult, Chapter]:
        folder = files.read_folder(path)
        chapter = self._by_files.get(folder.hash)
        if chapter is not None and not self.force:
            return _refresh(chapter, self.by, self.coming), chapter
        content = files.read_chapter(folder)
        chapter = self._match(content)
        if chapter is not None and not self.force and _is_edited(chapter, content):
            return ImportResult(path.name, Action.KEPT, _kept_text(path.name)), chapter
        _refuse_broken_rules(content, published=chapter is None or chapter.published)
        action = Action.CREATED if chapter is None else Action.UPDATED
        said = _renamed_text(chapter, content.slug)
        chapter = chapter or _new_chapter(self.course, content, position)
        answers = _save_chapter(chapter, content, folder.hash, self.by, self.coming)
        return ImportResult(path.name, action, f"{said} {answers}".strip()), chapter

    def _match(self, content: ChapterContent) -> Chapter | None:
        if content.slug in self._repeated_ids:
            raise MismatchError(self._repeated_ids[content.slug])
        chapter: Chapter | None = matching.find(Chapter, content.id, content.slug)
        if chapter is not None and chapter.course_id != self.course.pk:
            raise MismatchError(OTHER_COURSE.format(other=chapter.course.slug, slug=chapter.slug))
        return chapter

    @cached_property
    def _repeated_ids(self) -> dict[str, str]:
        contents = {slug: self.coming(self.content.slug, slug) for slug in self.content.chapters}
        return repeated_ids({slug: one.id for slug, one in contents.items() if one is not None})


def _new_chapter(course: Course, content: ChapterContent, position: int) -> Chapter:
    known = {} if content.id is None else {"uid": content.id}
    return Chapter(course=course, position=position, **known)


def _save_chapter(
    chapter: Chapter, content: ChapterContent, files_hash: str, by: User | None, coming: Coming
) -> str:
    """Write the chapter and publish it, rendered before the transaction begins.

    Returns what became of the answers to questions that have another key now, or are gone.
    """

    def save(renderings: Renderings) -> str:
        before = answered.keys_of(chapter) if chapter.pk else {}
        write_chapter(chapter, content, files_hash)
        said = [str(each) for each in answered.carry_answers(chapter, before)]
        services.publish_or_check(chapter, by, renderings)
        gone = {keys.key for keys in before.values()} - {each.key for each in content.questions}
        for key, learners in answered.learners_by_key(chapter, gone).items():
            said.append(
                f"{answered.counted(learners)} answered the question “{key}”, which is gone: their "
                "answers are kept and count no longer."
            )
        return " ".join(said)

    renderings = Renderings(coming)
    page = reverse("courses:chapter", args=[chapter.course.slug, content.slug])
    renderings.add(content, chapter.published, page)
    return saving.saved(save, renderings)


def _refresh(chapter: Chapter, by: User | None, coming: Coming) -> ImportResult:
    """Publish a new revision of unchanged files only where the renderer is newer."""
    current = chapter.current_revision
    rendered_anew = False
    if chapter.published and (current is None or current.build_version != BUILD_VERSION):
        saving.saved(partial(services.publish_chapter, chapter, by), Renderings(coming))
        rendered_anew = True
    message = "Rendered again by the newer renderer." if rendered_anew else ""
    if _hash_now(chapter) != chapter.imported_content_hash:
        return ImportResult(chapter.slug, Action.KEPT, f"{message} {EDITED_TEXT}".strip())
    return ImportResult(
        chapter.slug, Action.UPDATED if rendered_anew else Action.UNCHANGED, message
    )


def _hash_now(chapter: Chapter) -> str:
    """Return the hash of a chapter's content; a published chapter's is in its revision."""
    if chapter.published and chapter.current_revision is not None:
        return chapter.current_revision.content_hash
    return content_hash(to_data(stored_content(chapter)))


def _is_edited(chapter: Chapter, content: ChapterContent) -> bool:
    """Return whether the content was edited since the last import and differs from the file's."""
    hash_now = content_hash(to_data(stored_content(chapter)))
    return hash_now not in {chapter.imported_content_hash, content_hash(to_data(content))}


def _refuse_broken_rules(content: ChapterContent, published: bool) -> None:
    """Check the rules before writing: duplicate keys could not be written at all."""
    if broken_rules(content, published):
        build(content, published)  # raises, and with the mistakes in formulas too


def write_chapter(chapter: Chapter, content: ChapterContent, files_hash: str = "") -> None:
    """Store `content`; unchanged rows are not written."""
    for name in CHAPTER_FIELDS:
        setattr(chapter, name, getattr(content, name))
    chapter.imported_files_hash = files_hash
    chapter.imported_content_hash = content_hash(to_data(content))
    _save(chapter)
    data = to_data(content)
    of_chapter = {chapter: data}
    formulas = _sync(Formula, "key", _of(of_chapter, "formulas"), leave_out=("symbols",))
    _sync(FormulaSymbol, "position", _of(formulas, "symbols"))
    for step in data["steps"]:
        step["formula"], step["line"] = step["formula"] or "", step["line"] or ""
    _sync(DerivationStep, "key", _of(of_chapter, "steps"))
    _sync(MechanismStep, "key", _of(of_chapter, "mechanism"))
    _sync(Listing, "filename", _of(of_chapter, "listings"))
    _sync(Figure, "key", _of(of_chapter, "figures"))
    for question in data["questions"]:
        for name in ("answer", "tolerance", "language", "code", "output"):
            question.setdefault(name, "")
    questions = _sync(Question, "key", _of(of_chapter, "questions"), leave_out=tuple(QUESTION_ROWS))
    for name, identity in QUESTION_ROWS.items():
        _sync(_ROW_MODELS[name], identity, _of(questions, name))


def _of(parents: Mapping[Any, Mapping[str, Any]], name: str) -> dict[Any, list[dict[str, Any]]]:
    """Return each parent's rows of one kind, as plain data."""
    return {parent: list(data.get(name, [])) for parent, data in parents.items()}


def _sync(
    model: type[models.Model],
    identity: str,
    wanted: Mapping[Any, Sequence[Mapping[str, Any]]],
    leave_out: tuple[str, ...] = (),
) -> dict[Any, Mapping[str, Any]]:
    """Make the rows of `model` equal to those wanted of each parent, by the field `identity`.

    Rows keep their primary key while their identity stays, and so their history. `leave_out` names
    data that are not fields of the row itself. Returns each row with its data, in order. The number
    of statements is small and does not depend on the number of rows.
    """
    parent_field = _PARENTS[model]
    existing = {
        (getattr(row, f"{parent_field}_id"), getattr(row, identity)): row
        for row in model._base_manager.filter(**{f"{parent_field}__in": list(wanted)})
    }
    former = {} if identity == "position" else _renamed(existing, wanted, identity, leave_out)
    new: list[models.Model] = []
    changed: list[models.Model] = []
    fields: set[str] = set()
    synced: list[tuple[models.Model, Mapping[str, Any]]] = []
    for parent, given in wanted.items():
        for place, data in enumerate(given, start=1):
            values = {name: value for name, value in data.items() if name not in leave_out}
            values["position"] = place
            name_before = former.get((parent.pk, values[identity]), values[identity])
            row = existing.pop((parent.pk, name_before), None)
            if row is None:
                new.append(row := model(**{parent_field: parent}, **values))
            elif differing := {n for n, value in values.items() if getattr(row, n) != value}:
                fields |= differing
                changed.append(row)
                for name in differing:
                    setattr(row, name, values[name])
            synced.append((row, data))
    delete_all(list(existing.values()), CHANGE_REASON)
    update_all(changed, fields, CHANGE_REASON)
    create_all(new, CHANGE_REASON)
    # Not before: only what is written has a key to be found by.
    return dict(synced)


def _renamed(
    existing: Mapping[tuple[Any, str], models.Model],
    wanted: Mapping[Any, Sequence[Mapping[str, Any]]],
    identity: str,
    leave_out: tuple[str, ...],
) -> dict[tuple[Any, str], str]:
    """Return, by parent and new name, the former name of rows that differ only in their name.

    Where several are alike, nobody can tell which became which: those count as new.
    """
    given = {
        (parent.pk, data[identity]): {
            name: value for name, value in data.items() if name not in {identity, *leave_out}
        }
        for parent, rows in wanted.items()
        for data in rows
    }
    names = list(next(iter(given.values()), {}))
    alike: dict[str, tuple[list[str], list[tuple[Any, str]]]] = defaultdict(lambda: ([], []))
    for (parent_pk, name), row in existing.items():
        if (parent_pk, name) not in given:
            rest = [getattr(row, field) for field in names]
            alike[json.dumps([parent_pk, rest], default=str)][0].append(name)
    for place, data in given.items():
        if place not in existing:
            rest = [data.get(field) for field in names]
            alike[json.dumps([place[0], rest], default=str)][1].append(place)
    return {new[0]: old[0] for old, new in alike.values() if len(old) == len(new) == 1}


def _save(row: models.Model) -> None:
    """Save with a reason for the row's history."""
    row._change_reason = CHANGE_REASON  # type: ignore[attr-defined]
    row.save()
