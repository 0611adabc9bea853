from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest
from simple_history.admin import SimpleHistoryAdmin

from courses.admin.fields import ExactTextField
from courses.admin.writing import ShortWritesMixin
from courses.rendering import Rendered
from grader import queries
from grader.models import Exercise, ExerciseCheck
from grader.services.exercises import render, save_exercise
from grader.services.publishing import (
    Answer,
    Standing,
    open_check,
    publish_exercise,
    standing_of,
    withdraw,
)

BEING_PUBLISHED = (
    "Saved. Learners see it once its check has passed: workers grade the programs stored beside "
    "the exercise, which takes some minutes. The list of exercises shows how far that is, and "
    "you are told here how it ended."
)
PUBLISHED = "Saved and published: its check has passed, and nothing of it has changed since."


class ExerciseForm(forms.ModelForm):
    """Refuses mathematics that does not render, with line and column.

    `standing` is there after cleaning if the exercise is to be published and is not yet: it is
    saved unpublished, and published if its check has passed, or when it does.
    """

    rendered: Rendered | None = None
    standing: Standing | None = None

    class Meta:
        model = Exercise
        fields = (
            "slug",
            "title",
            "chapter",
            "position",
            "summary",
            "statement",
            "is_published",
            "accepts_submissions",
            "due_at",
        )
        field_classes = {"summary": ExactTextField, "statement": ExactTextField}
        widgets = {
            "summary": forms.Textarea(attrs={"rows": 4, "class": "vLargeTextField"}),
            "statement": forms.Textarea(attrs={"rows": 30, "class": "vLargeTextField"}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk and "slug" in self.fields:
            # Its tests, files, addresses and tokens know it by this name alone.
            self.fields["slug"].disabled = True
            self.fields["slug"].help_text = "The name of its tests, which stays."
        if "is_published" in self.fields:
            self.fields[
                "is_published"
            ].help_text = (
                "An exercise that is not published yet is checked first; untick to take that back."
            )
            if self.instance.pk and open_check(self.instance):
                self.initial["is_published"] = True

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if {"summary", "statement"} <= cleaned.keys():
            draft = Exercise(summary=cleaned["summary"], statement=cleaned["statement"])
            try:
                self.rendered = render(draft)
            except ValidationError as error:
                # A dictionary of errors goes to its fields, anything else to the form.
                self.add_error(None, error)
        slug = cleaned.get("slug")
        # Checked when it becomes public. What it is now stands in the row, not in the form: a check
        # may have passed since.
        if slug and cleaned.get("is_published") and not self.instance.is_published:
            self.standing = standing_of(slug)
            if self.standing.problem:
                self.add_error("is_published", self.standing.problem)
            cleaned["is_published"] = False
        return cleaned


@admin.register(Exercise)
class ExerciseAdmin(ShortWritesMixin, SimpleHistoryAdmin):
    form = ExerciseForm
    # How publishing goes stands where it is seen without moving the table.
    list_display = (
        "title",
        "is_published",
        "publishing_check",
        "open_to_learners",
        "slug",
        "chapter",
        "accepts_submissions",
        "due_at",
        "updated_at",
    )
    ordering = queries.IN_ORDER
    list_filter = ("is_published", "accepts_submissions", "chapter")
    list_select_related = ("chapter",)
    search_fields = ("slug", "title", "statement")
    fields = (*ExerciseForm.Meta.fields, "check_in_full")
    readonly_fields = ("check_in_full",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Exercise]:
        newest = Prefetch("checks", ExerciseCheck.objects.order_by("-id"), to_attr="all_checks")
        return super().get_queryset(request).prefetch_related(newest)

    @admin.display(description="check before publishing")
    def publishing_check(self, exercise: Exercise) -> str:
        """How far the newest check is, or how it ended, in a line of the list."""
        newest = _newest_check(exercise)
        return newest.progress if newest else ""

    @admin.display(description="check before publishing")
    def check_in_full(self, exercise: Exercise) -> str:
        newest = _newest_check(exercise)
        if newest is None:
            return "none yet"
        said = newest.progress[0].upper() + newest.progress[1:]
        return f"{said}. {newest.reason}".strip() if newest.reason else f"{said}."

    @admin.display(boolean=True, description="learners see it")
    def open_to_learners(self, exercise: Exercise) -> bool:
        """False also where the chapter is not published."""
        return exercise.is_open_to_learners

    def save_model(self, request: HttpRequest, obj: Exercise, form: Any, change: bool) -> None:
        self.begin_writing(request, obj, change)
        # The form's chapter is the author's word, and the slug kept for loads follows it.
        obj.chapter_slug = obj.chapter.slug if obj.chapter else ""
        author = cast(User, request.user)
        standing = form.standing
        if standing is not None:
            # It may have passed between the form's reading and now.
            passed = Exercise.objects.filter(pk=obj.pk, slug=obj.slug, is_published=True).exists()
            obj.is_published = passed
            standing = None if passed else standing
        save_exercise(obj, actor=author, rendered=form.rendered)
        if standing is not None:
            answer = publish_exercise(obj, standing, author)
            messages.info(request, PUBLISHED if answer is Answer.PUBLISHED else BEING_PUBLISHED)
        elif withdraw(obj):
            messages.info(request, "The check before publishing was withdrawn.")

    def has_delete_permission(self, request: HttpRequest, obj: Exercise | None = None) -> bool:
        """An exercise with submissions is closed or unpublished, never deleted."""
        if obj is not None and obj.submissions.exists():
            return False
        return super().has_delete_permission(request, obj)


def _newest_check(exercise: Exercise) -> ExerciseCheck | None:
    """Return the newest check; of a list's rows they are fetched already."""
    checks = getattr(exercise, "all_checks", None)
    if checks is None:
        return exercise.checks.order_by("-id").first() if exercise.pk else None
    return next(iter(checks), None)
