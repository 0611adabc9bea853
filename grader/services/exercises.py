"""Render, save and load the statements of exercises."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.urls import reverse

from courses.models import Chapter
from courses.publishing.links import problem_of
from courses.publishing.site import StoredSite
from courses.rendering import (
    RENDERER_VERSION,
    Rendered,
    RenderError,
    Source,
    SourceError,
    render_all,
)
from courses.rendering.places import source_error, with_line_feeds
from courses.services import store_stylesheet
from grader.content import ExerciseFile
from grader.content import files as library_files
from grader.models import AuditAction, CheckState, Exercise

from .audit import changes, record_act
from .publishing import newest_check, publish_exercise, standing_of, withdraw

AUTHORED_FIELDS = ("title", "chapter_slug", "position", "summary", "statement", "is_published")


class Loaded(StrEnum):
    """What a load did with one file."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    KEPT = "kept as edited in the admin"


def render(exercise: Exercise) -> Rendered:
    """Render summary and statement.

    Raises:
        ValidationError: by field, with line and column of each mistake in the mathematics.
    """
    try:
        rendered = render_all(
            {
                "summary": Source("markdown", exercise.summary),
                "statement": Source("markdown", exercise.statement),
            }
        )
    except RenderError as error:
        raise ValidationError(f"The text could not be rendered: {error}") from error
    errors = _errors(exercise, rendered)
    if errors:
        raise ValidationError(
            {
                field: [
                    f"Line {mistake.line}, column {mistake.column}: {mistake.message}\n"
                    f"{mistake.excerpt}"
                    for mistake in mistakes
                ]
                for field, mistakes in errors.items()
            }
        )
    return rendered


def _errors(exercise: Exercise, rendered: Rendered) -> dict[str, list[SourceError]]:
    """Return the mistakes by field, with links and pictures that lead to nothing."""
    errors = {field: list(found) for field, found in rendered.errors.items()}
    # A form checks its texts before it is known what the exercise will be called.
    site = StoredSite(reverse("grader:exercise", args=[exercise.slug or "-"]))
    for field, links in rendered.links.items():
        for link in links:
            problem = problem_of(link, site)
            if problem:
                text = with_line_feeds(getattr(exercise, field))
                found = source_error(text, link.offset, problem)
                errors.setdefault(field, []).append(found)
    return errors


def is_known(slug: str) -> bool:
    """Return whether there is such an exercise, or will be once the library's are loaded."""
    in_library = slug in {path.stem for path in library_files()}
    return in_library or Exercise.objects.filter(slug=slug).exists()


def save_exercise(
    exercise: Exercise, actor: User | None = None, rendered: Rendered | None = None
) -> Exercise:
    """Save an exercise with its texts rendered, and linked to its chapter.

    `rendered` saves a second rendering where a form has rendered the same texts to check them.

    Raises:
        ValidationError: the mathematics has mistakes; nothing was saved.
    """
    result = rendered or render(exercise)
    exercise.summary_html = result.html["summary"]
    exercise.statement_html = result.html["statement"]
    exercise.renderer_version = RENDERER_VERSION
    with transaction.atomic():
        former = Exercise.objects.filter(pk=exercise.pk).select_related("chapter").first()
        before = _shown(former) if former else None
        exercise.stylesheet = store_stylesheet(result.css, result.css_hash)
        _link_chapter(exercise)
        exercise.save()
        if actor is not None:
            _record(actor, exercise, before)
    return exercise


def _record(actor: User, exercise: Exercise, before: dict[str, Any] | None) -> None:
    after: dict[str, Any] = _shown(exercise)
    if before is not None:
        before, after = changes(before, after)
        if not before and not after:
            return
    target = f"exercise:{exercise.slug}"
    record_act(actor, AuditAction.EXERCISE_CHANGED, target, before=before, after=after)


def _shown(exercise: Exercise) -> dict[str, Any]:
    """Return what an author sees in the form, by the names of the fields."""
    names = ("slug", *AUTHORED_FIELDS, "accepts_submissions", "due_at")
    return {name: getattr(exercise, name) for name in names}


def load_exercise(file: ExerciseFile, *, force: bool = False) -> Loaded:
    """Bring an exercise to what its file says, unless somebody edited it in the admin since.

    A file that says `published: true` publishes an exercise that has passed its check as it is;
    otherwise it asks for the check, which the scheduler begins. One that is published stays so.

    Raises:
        ValidationError: the mathematics has mistakes; nothing was saved.
    """
    loaded, exercise = _load(file, force=force)
    if loaded is Loaded.KEPT or exercise.is_published:
        return loaded
    standing = standing_of(file.slug) if file.published else None
    with transaction.atomic():
        exercise = Exercise.objects.select_for_update(of=("self",)).get(pk=exercise.pk)
        if standing is not None:
            publish_exercise(exercise, standing, anew=False, send=False)
        elif loaded is not Loaded.UNCHANGED:
            withdraw(exercise)
    return loaded


def _load(file: ExerciseFile, *, force: bool) -> tuple[Loaded, Exercise]:
    exercise = Exercise.objects.filter(slug=file.slug).first()
    created = exercise is None
    if exercise is None:
        exercise = Exercise(slug=file.slug)
    is_moved = _take_deadline(exercise, file.due_at, force=force)
    before: set[str] = set() if created else _digests_as_loaded(exercise)
    if not created and not force and exercise.loaded_digest not in ("", *before):
        if is_moved:
            exercise.save()
        return Loaded.KEPT, exercise
    exercise.title = file.title
    exercise.chapter_slug = file.chapter
    exercise.position = file.position
    exercise.summary = file.summary
    exercise.statement = file.statement
    digest = digest_of(exercise, file.published)
    is_same = digest == exercise.loaded_digest and digest in before and not is_moved
    if not created and is_same and _is_current(exercise):
        return Loaded.UNCHANGED, exercise
    exercise.is_published = exercise.is_published and file.published
    exercise.loaded_digest = digest
    save_exercise(exercise)
    return (Loaded.CREATED if created else Loaded.UPDATED), exercise


def render_outdated() -> dict[str, str]:
    """Render anew the texts of every exercise that an older renderer made, whoever wrote them.

    Returns:
        Slug of an exercise -> what is wrong, for those that the renderer now refuses; they stay as
        they are.
    """
    refused: dict[str, str] = {}
    for exercise in Exercise.objects.exclude(renderer_version=RENDERER_VERSION):
        try:
            save_exercise(exercise)
        except ValidationError as error:
            refused[exercise.slug] = "; ".join(error.messages)
    return refused


def _take_deadline(exercise: Exercise, due_at: datetime | None, *, force: bool) -> bool:
    """Take the file's deadline and return whether that moves it.

    One that was set in the admin since the last load stays, also where the texts are loaded: when
    a course is held is this site's business. By force a file's deadline is taken, not its lack.
    """
    is_set_by_hand = exercise.due_at != exercise.loaded_due_at
    if is_set_by_hand and not (force and due_at):
        return False
    is_moved = exercise.due_at != due_at
    exercise.due_at = exercise.loaded_due_at = due_at
    return is_moved


def digest_of(exercise: Exercise, published: bool) -> str:
    """Return a digest of what an author can change, to tell an edit from a load.

    `published` is what the file asked for, which the exercise may not be yet.
    """
    fields = {name: getattr(exercise, name) for name in AUTHORED_FIELDS}
    fields["is_published"] = published
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


def _digests_as_loaded(exercise: Exercise) -> set[str]:
    """Return the digests that a load may have left an exercise with that nobody edited since.

    Where its check is open or has failed, the file may have asked for it to be published or not.
    """
    newest = newest_check(exercise)
    is_asked_for = newest is not None and (newest.is_open or newest.state == CheckState.FAILED)
    states = {exercise.is_published, exercise.is_published or is_asked_for}
    return {digest_of(exercise, published) for published in states}


def _is_current(exercise: Exercise) -> bool:
    """Return whether the stored HTML and the link to the chapter are what a save would give."""
    if exercise.renderer_version != RENDERER_VERSION:
        return False
    # Named by a slug that the chapter may have had before.
    chapter = Chapter.find(exercise.chapter_slug) if exercise.chapter_slug else None
    return chapter == exercise.chapter or (chapter is None and bool(exercise.chapter_slug))


def _link_chapter(exercise: Exercise) -> None:
    if exercise.chapter_slug:
        exercise.chapter = Chapter.find(exercise.chapter_slug)
    elif exercise.chapter is not None:
        exercise.chapter_slug = exercise.chapter.slug
