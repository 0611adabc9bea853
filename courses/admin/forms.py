"""Forms and formsets that show the publisher's errors at the field concerned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, ClassVar

from adminsortable2.admin import CustomInlineFormSet
from django import forms
from django.contrib.admin.widgets import AdminTextareaWidget
from django.forms.models import BaseInlineFormSet
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString

from courses.answered import counted
from courses.figures import kinds
from courses.models import Chapter, Figure, Listing, NumericHint
from courses.rendering import SourceError
from courses.rows import create_all, delete_all, update_all

from .conflicts import LoadedStateForm
from .fields import ExactTextField, NamedLinesField, RequirementsField

Errors = dict[str, list[SourceError]]


def error_html(error: SourceError) -> SafeString:
    """Return the message with its line and column, and the place in the text with a caret."""
    if not error.excerpt:
        return format_html("{}", error.message)
    return format_html(
        'Line {}, column {}: {}<pre translate="no">{}</pre>',
        error.line,
        error.column,
        error.message,
        error.excerpt,
    )


class ContentForm(LoadedStateForm):
    """A form of one part of a chapter.

    `content_errors` holds what publishing found wrong with this input (empty at first); `path` is
    the prefix of the part's fields in it: "" for the chapter, else `formulas/<key>/`.
    """

    content_errors: ClassVar[Errors] = {}

    def path(self) -> str:
        return ""

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        for field, found in self.content_errors.items():
            name = field.removeprefix(self.path())
            if name in self.fields and field == self.path() + name:
                for error in found:
                    self.add_error(name, error_html(error))
            else:
                # Shown at the field of the inline too; this is the list of what to fix.
                for error in found:
                    where = f"{field}, line {error.line}" if error.excerpt else field
                    self.add_error(None, f"{where}: {error.message}")
        return cleaned

    def is_multipart(self) -> bool:
        """Sent as multipart: URL-encoded, a Chinese text would take nine bytes a character."""
        return True


class ChapterForm(ContentForm):
    requirements = RequirementsField(
        required=False,
        help_text=(
            "What completes the chapter: names separated by spaces. "
            "quiz means all its questions, exercise:rmsnorm an accepted submission to it."
        ),
    )

    class Meta:
        model = Chapter
        exclude: Sequence[str] = ()


class KeyedForm(ContentForm):
    """The form of a part that has its own page, such as a question."""

    part = ""

    def path(self) -> str:
        key = self.cleaned_data.get("key") or self.instance.key
        return f"{self.part}/{key}/"


class FormulaForm(KeyedForm):
    part = "formulas"


class QuestionForm(KeyedForm):
    part = "questions"
    # Required fields by kind.
    needed: ClassVar[dict[str, tuple[str, ...]]] = {
        "numeric": ("answer", "tolerance"),
        "output": ("language", "code", "output"),
    }

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean() or self.cleaned_data
        for name in self.needed.get(cleaned.get("kind", ""), ()):
            if name in cleaned and not cleaned[name]:
                self.add_error(name, f"A question of this kind needs its {name}.")
        return cleaned


class ListingForm(forms.ModelForm):
    lines = NamedLinesField(
        required=False,
        label="named lines",
        help_text="One a row: a name, a space, the line's number. Steps link to them by name.",
    )

    class Meta:
        model = Listing
        exclude: Sequence[str] = ()


class FigureForm(forms.ModelForm):
    kind = forms.ChoiceField(
        choices=lambda: [(name, name) for name in kinds()],
        help_text="What its parameters are is in the reference of the chapter files.",
    )

    class Meta:
        model = Figure
        exclude: Sequence[str] = ()


class HintForm(forms.ModelForm):
    # Output may have several lines.
    value = ExactTextField(
        widget=AdminTextareaWidget(attrs={"rows": 2}),
        max_length=500,
        help_text="The wrong number, or what the program would print.",
    )

    class Meta:
        model = NumericHint
        exclude: Sequence[str] = ()


class PartFormSet(CustomInlineFormSet):
    """The rows of one kind of part; each row shows the errors under its own path.

    `part` is the path of the kind, with {key} for the parent's key; `identity` is the field that
    names a row in paths, or empty where rows are counted from 1.
    """

    part: ClassVar[str] = ""
    identity: ClassVar[str] = "key"
    content_errors: ClassVar[Errors] = {}

    def get_queryset(self) -> Any:
        """Return one row for each form, including rows that were deleted meanwhile.

        The admin shows as many forms as there are rows. With the rows as they are now, the text
        typed into a row that was deleted meanwhile would disappear.
        """
        rows = super().get_queryset()
        if not self.is_bound:
            return rows
        by_key = {str(row.pk): row for row in rows}
        name = self.model._meta.pk.name
        sent = [
            self.data.get(f"{self.add_prefix(place)}-{name}", "")
            for place in range(self.initial_form_count())
        ]
        return [by_key.get(key) or self.model() for key in sent]

    def save(self, commit: bool = True) -> Any:
        """Write all rows in bulk: reordering a long chapter changes hundreds."""
        saved = super().save(commit=False)
        if commit:
            delete_all(self.deleted_objects)
            changed = {name for _, names in self.changed_objects for name in names}
            update_all([row for row, _ in self.changed_objects], self._columns(changed))
            create_all(self.new_objects)
        return saved

    def save_new(self, form: Any, commit: bool = True) -> Any:
        """A new row comes last, unless it was dragged somewhere."""
        row: Any = BaseInlineFormSet.save_new(self, form, commit=False)
        if not row.position:
            row.position = next(self._free_positions)
        return row

    @cached_property
    def _free_positions(self) -> Iterator[int]:
        return count(self.get_max_order() + 1)

    def _columns(self, names: set[str]) -> set[str]:
        """Return those of a form's fields that are fields of the row, which has others too."""
        columns = {field.name for field in self.model._meta.concrete_fields}
        return (names & columns) - {self.model._meta.pk.name}

    def clean(self) -> None:
        super().clean()
        if not self.content_errors:
            return
        parent = self.part.format(key=getattr(self.instance, "key", ""))
        for place, form in enumerate(self._kept_forms(), start=1):
            row = getattr(form.instance, self.identity) if self.identity else place
            for name in form.fields:
                for error in self.content_errors.get(f"{parent}/{row}/{name}", ()):
                    form.add_error(name, error_html(error))

    def _kept_forms(self) -> Iterator[forms.ModelForm]:
        """The forms that publishing saw, in its order."""
        kept = [
            form
            for form in self.forms
            if (form.instance.pk or form.has_changed()) and not self._should_delete_form(form)
        ]
        # A new row has no position yet and comes last.
        return iter(
            sorted(kept, key=lambda form: form.cleaned_data.get("position") or float("inf"))
        )


class QuestionFormSet(PartFormSet):
    """Keeps questions that learners have answered; their own page deletes them, with a warning."""

    def clean(self) -> None:
        super().clean()
        for form in self.deleted_forms:
            learners = getattr(form.instance, "learners", 0)
            if learners:
                raise forms.ValidationError(
                    f"{counted(learners)} answered the question “{form.instance.key}”. To delete "
                    "it, open its own page and choose Delete there; that says what becomes of "
                    "their answers. Untick Delete here first."
                )
