"""What writes: publishing chapters and keeping stylesheets. (Answers: `quiz.attempts`; completion:
`progress.requirements`; import: `content.importer`.)
"""

from __future__ import annotations

import hashlib

from django.contrib.auth.models import User
from django.db import transaction
from pydantic import ValidationError

from courses.content.errors import ContentError, describe
from courses.content.exporter import stored_content
from courses.content.schema import (
    QUESTION_MODELS,
    QUESTION_ROWS,
    ChapterContent,
    content_hash,
    to_data,
)
from courses.models import Chapter, ChapterRevision, MathStylesheet, Question
from courses.pages import generation
from courses.publishing import BUILD_VERSION, Built, build
from courses.publishing.site import StoredSite
from courses.rendering import RenderError, SourceError
from courses.rows import delete_all
from courses.saving import Renderings, saved

__all__ = [
    "ContentError",
    "check_chapter",
    "delete_chapter",
    "drop_rows_of_other_kinds",
    "publish_chapter",
    "publish_or_check",
    "publish_outdated",
    "store_stylesheet",
]


def publish_chapter(
    chapter: Chapter, by: User | None, renderings: Renderings | None = None
) -> ChapterRevision:
    """Publish the stored content of `chapter`.

    Writes one immutable revision, or nothing where neither content nor renderer changed. Raises
    `ContentError` with every mistake by field; the published page then stays as it was.

    Within a transaction, pass `renderings`, and repeat everything on `NotRendered`, as `saved`
    does.
    """
    if renderings is None:
        return saved(lambda known: _publish(chapter, by, known))
    return _publish(chapter, by, renderings)


def check_chapter(chapter: Chapter, renderings: Renderings | None = None) -> Built:
    """Render the stored content without publishing it; `ContentError` as in publishing."""
    content, page = _read(chapter), chapter.get_absolute_url()
    if renderings is None:
        return build(content, published=False, site=StoredSite(page))
    return renderings.of(content, published=False, page=page)


def publish_or_check(
    chapter: Chapter, by: User | None, renderings: Renderings | None = None
) -> None:
    """Publish a chapter marked as published; only check that a draft could be rendered."""
    if chapter.published:
        publish_chapter(chapter, by, renderings)
    else:
        check_chapter(chapter, renderings)


def _publish(chapter: Chapter, by: User | None, renderings: Renderings) -> ChapterRevision:
    locked = Chapter.objects.select_for_update().get(pk=chapter.pk)
    content = _read(locked)
    data = to_data(content)
    hash_now = content_hash(data)
    current = locked.current_revision
    if (
        current is not None
        and current.content_hash == hash_now
        and current.build_version == BUILD_VERSION
    ):
        chapter.current_revision = current
        return current
    built = renderings.of(content, published=True, page=chapter.get_absolute_url())
    last = locked.revisions.order_by("-number").values_list("number", flat=True).first()
    revision = ChapterRevision.objects.create(
        chapter=locked,
        number=(last or 0) + 1,
        content=data,
        content_hash=hash_now,
        page=built.page,
        answers=built.answers,
        question_versions=built.question_versions,
        build_version=BUILD_VERSION,
        stylesheet=store_stylesheet(built.css, built.css_hash),
        created_by=by,
    )
    # Not by save(): an edit's history row is written once, by the edit itself.
    Chapter.objects.filter(pk=locked.pk).update(current_revision=revision)
    generation.advance()
    chapter.current_revision = revision
    return revision


def delete_chapter(chapter: Chapter) -> None:
    """Delete a chapter without answers, with its parts and their history rows."""
    with transaction.atomic():
        for parts in ("formulas", "steps", "mechanism", "listings", "figures", "questions"):
            delete_all(list(getattr(chapter, parts).all()))
        chapter.delete()


def publish_outdated() -> dict[str, str]:
    """Publish a new revision of every chapter that an older renderer made.

    Returns: Slug of a chapter -> what its author must fix, for those that the renderer now refuses;
    they stay as they are.
    """
    refused: dict[str, str] = {}
    outdated = Chapter.objects.filter(published=True, current_revision__isnull=False).exclude(
        current_revision__build_version=BUILD_VERSION
    )
    for chapter in outdated:
        try:
            publish_chapter(chapter, by=None)
        except ContentError as error:
            refused[chapter.slug] = "; ".join(describe(error.errors))
        except RenderError as error:
            refused[chapter.slug] = str(error)
    return refused


def drop_rows_of_other_kinds(question: Question) -> None:
    """Delete rows that the question's kind does not have, such as choices of a numeric one."""
    fields = QUESTION_MODELS[question.kind].model_fields
    for name in QUESTION_ROWS:
        if name not in fields:
            getattr(question, name).all().delete()


def store_stylesheet(css: str, css_hash: str) -> MathStylesheet | None:
    """Store the style sheet of rendered formulas, once; None where it is empty."""
    if not css.strip():
        return None
    stylesheet, _ = MathStylesheet.objects.get_or_create(
        hash=css_hash or hashlib.sha256(css.encode()).hexdigest(), defaults={"css": css}
    )
    return stylesheet


def _read(chapter: Chapter) -> ChapterContent:
    """Return the stored content; an invalid format is a `ContentError` too."""
    try:
        return stored_content(chapter)
    except ValidationError as error:
        errors: dict[str, list[SourceError]] = {}
        for problem in error.errors():
            field = "/".join(str(part) for part in problem["loc"]) or "chapter"
            errors.setdefault(field, []).append(SourceError(1, 1, f"{problem['msg']}.", ""))
        raise ContentError(errors) from error
