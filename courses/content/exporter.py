"""From the database to content and files: the exact inverse of the importer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.db.models import Prefetch, QuerySet

from courses.models import Chapter, Course, Formula, Question

from . import files
from .schema import (
    PART_TEXTS,
    QUESTION_MODELS,
    ChapterContent,
    CourseContent,
    FigureContent,
    FormulaContent,
    LineContent,
    ListingContent,
    MechanismContent,
    QuestionContent,
    StepContent,
    SymbolContent,
)

CHAPTER_FIELDS = ("slug", "title", "summary", "minutes", "requirements", *PART_TEXTS)


def with_parts(chapters: QuerySet[Chapter]) -> QuerySet[Chapter]:
    """Prefetch everything that `chapter_content` reads, in a constant number of queries."""
    return chapters.prefetch_related(
        Prefetch("formulas", Formula.objects.prefetch_related("symbols")),
        "steps",
        "mechanism",
        "listings",
        "figures",
        Prefetch(
            "questions", Question.objects.prefetch_related("choices", "hints", "items", "pairs")
        ),
    )


def stored_content(chapter: Chapter) -> ChapterContent:
    """Return the content of a chapter as the database holds it now, without any cache."""
    return chapter_content(with_parts(Chapter.objects.filter(pk=chapter.pk)).get())


def chapter_content(chapter: Chapter) -> ChapterContent:
    """Return the content of a chapter with its parts; may raise pydantic's `ValidationError`."""
    return ChapterContent(
        id=str(chapter.uid),
        **{name: getattr(chapter, name) for name in CHAPTER_FIELDS},
        formulas=[_formula(formula) for formula in chapter.formulas.all()],
        steps=[
            StepContent(
                key=step.key,
                title=step.title,
                tex=step.tex,
                reason=step.reason,
                formula=step.formula or None,
                line=step.line or None,
            )
            for step in chapter.steps.all()
        ],
        mechanism=[
            MechanismContent(key=part.key, title=part.title, body=part.body)
            for part in chapter.mechanism.all()
        ],
        listings=[
            ListingContent(
                filename=listing.filename,
                language=listing.language,
                title=listing.title,
                lines=[LineContent(**line) for line in listing.lines],
                code=listing.code,
                output=listing.output,
            )
            for listing in chapter.listings.all()
        ],
        figures=[
            FigureContent(
                key=figure.key,
                kind=figure.kind,
                title=figure.title,
                caption=figure.caption,
                part=figure.part,
                links=figure.links,
                parameters=figure.parameters,
            )
            for figure in chapter.figures.all()
        ],
        questions=[_question(question) for question in chapter.questions.all()],
    )


def course_content(course: Course) -> CourseContent:
    """Return the content of a course: its own fields and the order of its chapters."""
    return CourseContent(
        id=str(course.uid),
        slug=course.slug,
        title=course.title,
        summary=course.summary,
        chapters=[chapter.slug for chapter in course.chapters.all()],
    )


def export_course(course: Course, target: Path) -> list[Path]:
    """Write a course to the folder `target/<course slug>`; return the files written.

    Files that the course does not have are left alone.
    """
    folder = target / course.slug
    written = _write(folder, files.course_files(course_content(course)))
    for chapter in with_parts(course.chapters.all()):
        written += _write(folder / chapter.slug, files.chapter_files(chapter_content(chapter)))
    return written


def _formula(formula: Formula) -> FormulaContent:
    return FormulaContent(
        key=formula.key,
        title=formula.title,
        tex=formula.tex,
        numpy=formula.numpy,
        spoken=formula.spoken,
        note=formula.note,
        symbols=[
            SymbolContent(tex=symbol.tex, name=symbol.name, shape=symbol.shape)
            for symbol in formula.symbols.all()
        ],
    )


# The related rows of questions, with the fields that are exported.
_ROWS = {
    "choices": ("key", "text", "correct", "feedback"),
    "hints": ("value", "feedback"),
    "items": ("key", "text", "feedback", "hint"),
    "pairs": ("key", "left", "right", "feedback", "hint"),
}


def _question(question: Question) -> QuestionContent:
    """Return the fields and rows of the question's kind, as its model lists them."""
    model = QUESTION_MODELS[question.kind]
    data: dict[str, Any] = {}
    for name in model.model_fields:
        if name in _ROWS:
            rows = getattr(question, name).all()
            data[name] = [{field: getattr(row, field) for field in _ROWS[name]} for row in rows]
        else:
            data[name] = getattr(question, name)
    return model.model_validate(data)


def _write(folder: Path, contents: dict[str, bytes]) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in contents]
