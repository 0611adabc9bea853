from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from simple_history.admin import SimpleHistoryAdmin

from courses.rendering import Rendered
from grader import queries
from grader.models import Exercise
from grader.services.exercises import render, save_exercise
from grader.services.strength import why_not_publishable


class ExerciseForm(forms.ModelForm):
    """Refuses mathematics that does not render, with line and column."""

    rendered: Rendered | None = None

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
        widgets = {
            "summary": forms.Textarea(attrs={"rows": 4, "class": "vLargeTextField"}),
            "statement": forms.Textarea(attrs={"rows": 30, "class": "vLargeTextField"}),
        }

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
        # Checked when it becomes public, and when it would be graded as another exercise.
        opened = not self.initial.get("is_published") or slug != self.initial.get("slug")
        asked = cleaned.get("is_published") and opened and not self.errors
        if slug and asked and (reason := why_not_publishable(slug)):
            self.add_error("is_published", reason)
        return cleaned


@admin.register(Exercise)
class ExerciseAdmin(SimpleHistoryAdmin):
    form = ExerciseForm
    list_display = (
        "title",
        "slug",
        "chapter",
        "is_published",
        "open_to_learners",
        "accepts_submissions",
        "due_at",
        "updated_at",
    )
    ordering = queries.IN_ORDER
    list_filter = ("is_published", "accepts_submissions", "chapter")
    list_select_related = ("chapter",)
    search_fields = ("slug", "title", "statement")
    fields = ExerciseForm.Meta.fields

    @admin.display(boolean=True, description="learners see it")
    def open_to_learners(self, exercise: Exercise) -> bool:
        """False also where the chapter is not published."""
        return exercise.is_open_to_learners

    def save_model(self, request: HttpRequest, obj: Exercise, form: Any, change: bool) -> None:
        # The form's chapter is the author's word, and the slug kept for loads follows it.
        obj.chapter_slug = obj.chapter.slug if obj.chapter else ""
        save_exercise(obj, actor=request.user, rendered=form.rendered)  # type: ignore[arg-type]

    def has_delete_permission(self, request: HttpRequest, obj: Exercise | None = None) -> bool:
        """An exercise with submissions is closed or unpublished, never deleted."""
        if obj is not None and obj.submissions.exists():
            return False
        return super().has_delete_permission(request, obj)
