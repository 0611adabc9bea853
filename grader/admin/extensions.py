"""Deadline extensions for single learners, granted and revoked by graders."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest

from courses.accounts.names import find_account
from courses.admin.searching import FoldedSearchMixin
from courses.admin.writing import ShortWritesMixin
from grader.access import may_change_submissions
from grader.models import Exercise, Extension
from grader.services import give_extension, remove_extension
from grader.services.decide import MAX_REASON_CHARACTERS


class ExtensionForm(forms.ModelForm):
    """Takes the learner by name: graders need no list of all accounts."""

    learner = forms.CharField(help_text="The user name.", max_length=150)
    reason = forms.CharField(
        max_length=MAX_REASON_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 3, "class": "vLargeTextField"}),
        help_text="For graders; the learner sees the new deadline alone.",
    )

    replaces = forms.BooleanField(
        required=False, widget=forms.HiddenInput, label="Change the extension that there is"
    )

    class Meta:
        model = Extension
        fields = ("exercise", "due_at", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        exercises = cast(forms.ModelChoiceField, self.fields["exercise"])
        exercises.queryset = Exercise.objects.filter(due_at__isnull=False)
        exercises.help_text = "Those with a deadline."
        self.fields["due_at"].help_text = "In UTC, and after the exercise's deadline."
        if self.instance.pk:
            self.fields["learner"].initial = self.instance.user.get_username()
            self.fields["learner"].disabled = self.fields["exercise"].disabled = True

    def clean_learner(self) -> User:
        name = self.cleaned_data["learner"]
        learner = find_account(name)
        if learner is None:
            raise forms.ValidationError(f"There is no account of the name {name}.")
        return learner

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        exercise, due_at = cleaned.get("exercise"), cleaned.get("due_at")
        if exercise and due_at and exercise.due_at and due_at <= exercise.due_at:
            self.add_error("due_at", f"An extension ends after {exercise.due_at:%Y-%m-%d %H:%M}.")
        if not self.instance.pk and exercise and isinstance(cleaned.get("learner"), User):
            self._ask_before_a_change(exercise, cleaned["learner"], cleaned.get("replaces", False))
        return cleaned

    def _ask_before_a_change(self, exercise: Exercise, learner: User, agreed: bool) -> None:
        """Explain what a second extension for a learner would change, and offer to change it."""
        former = Extension.objects.filter(exercise=exercise, user=learner).first()
        if former is None:
            return
        self.fields["replaces"].widget = forms.CheckboxInput()
        if not agreed:
            self.add_error(
                "replaces",
                f"{learner} has an extension already: until {former.due_at:%Y-%m-%d %H:%M} UTC, "
                f"given by {former.created_by or 'a deleted account'}, “{former.reason}”. To "
                "change it to what you wrote, tick this box and save once more.",
            )


@admin.register(Extension)
class ExtensionAdmin(FoldedSearchMixin, ShortWritesMixin, admin.ModelAdmin):  # type: ignore[misc]
    form = ExtensionForm
    list_display = ("exercise", "user", "due_at", "created_by", "created_at")
    list_filter = ("exercise",)
    list_select_related = ("exercise", "user", "created_by")
    search_fields = ("user__username", "user__account_name__folded", "exercise__slug")
    fields = ("exercise", "learner", "due_at", "reason", "replaces")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return may_change_submissions(request.user)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may_change_submissions(request.user)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may_change_submissions(request.user)

    def save_model(self, request: HttpRequest, obj: Extension, form: Any, change: bool) -> None:
        self.begin_writing(request, obj, change)
        wanted = form.cleaned_data
        if wanted.get("replaces"):
            self.message_user(request, "This changed the extension that there was.")
        given = give_extension(
            cast(User, request.user),
            obj.exercise,
            wanted["learner"],
            wanted["due_at"],
            wanted["reason"],
        )
        obj.pk, obj.user = given.pk, given.user

    def delete_model(self, request: HttpRequest, obj: Extension) -> None:
        remove_extension(cast(User, request.user), obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Extension]) -> None:
        for extension in queryset.select_related("exercise", "user"):
            remove_extension(cast(User, request.user), extension)
