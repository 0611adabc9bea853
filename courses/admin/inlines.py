"""The parts of a chapter as rows in the admin, reordered by dragging."""

from __future__ import annotations

from typing import Any, ClassVar

from adminsortable2.admin import (
    SortableInlineAdminMixin,
    SortableStackedInline,
    SortableTabularInline,
)
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from courses.answered import answered_text, with_learners
from courses.models import (
    Chapter,
    ChapterRevision,
    Choice,
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

from .forms import FigureForm, HintForm, ListingForm, PartFormSet, QuestionFormSet
from .publishing import TEXT_OVERRIDES, content_errors


class PartInlineMixin(SortableInlineAdminMixin):
    """`part` and `identity` tell the formset under which paths its rows' errors are."""

    formset = PartFormSet
    formfield_overrides = TEXT_OVERRIDES
    extra = 0
    part: ClassVar[str]
    identity: ClassVar[str] = "key"

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        formset = super().get_formset(request, obj, **kwargs)
        formset.part = self.part
        formset.identity = self.identity
        formset.content_errors = content_errors(request)
        return formset


class FormulaInline(PartInlineMixin, SortableStackedInline):
    model = Formula
    part = "formulas"
    show_change_link = True
    classes = ("collapse",)


class DerivationStepInline(PartInlineMixin, SortableStackedInline):
    model = DerivationStep
    part = "steps"
    classes = ("collapse",)


class MechanismStepInline(PartInlineMixin, SortableStackedInline):
    model = MechanismStep
    part = "mechanism"
    classes = ("collapse",)


class ListingInline(PartInlineMixin, SortableStackedInline):
    model = Listing
    form = ListingForm
    part = "listings"
    identity = "filename"
    classes = ("collapse",)


class FigureInline(PartInlineMixin, SortableStackedInline):
    model = Figure
    form = FigureForm
    part = "figures"
    classes = ("collapse",)


class QuestionInline(PartInlineMixin, SortableStackedInline):
    """Wording and order. Choices and new questions are edited on the question's own page."""

    model = Question
    formset = QuestionFormSet
    part = "questions"
    fields = ("key", "kind", "answered", "prompt", "explanation")
    readonly_fields = ("kind", "answered")
    show_change_link = True
    classes = ("collapse",)
    verbose_name_plural = "questions (add one, or change choices, on the question's own page)"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Question]:
        return with_learners(super().get_queryset(request))

    @admin.display(description="learners")
    def answered(self, question: Question) -> str:
        return answered_text(question)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class FormulaSymbolInline(PartInlineMixin, SortableTabularInline):
    model = FormulaSymbol
    part = "formulas/{key}/symbols"
    identity = ""


class ChoiceInline(PartInlineMixin, SortableStackedInline):
    model = Choice
    part = "questions/{key}/choices"
    verbose_name_plural = "choices (for questions with one or several right choices)"


class NumericHintInline(PartInlineMixin, SortableStackedInline):
    model = NumericHint
    form = HintForm
    part = "questions/{key}/hints"
    identity = ""
    verbose_name = "hint for a wrong answer"
    verbose_name_plural = "hints for wrong answers (numbers, and what a program prints)"


class OrderingItemInline(PartInlineMixin, SortableStackedInline):
    model = OrderingItem
    part = "questions/{key}/items"
    verbose_name = "step"
    verbose_name_plural = "steps in their right order (for questions that ask for an order)"


class MatchingPairInline(PartInlineMixin, SortableStackedInline):
    model = MatchingPair
    part = "questions/{key}/pairs"
    verbose_name = "pair"
    verbose_name_plural = "pairs (for questions that ask what belongs together)"


class ReadOnlyInlineMixin:
    """Rows for display only."""

    extra = 0
    max_num: int | None = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class RevisionInline(ReadOnlyInlineMixin, admin.TabularInline):
    model = ChapterRevision
    fields = readonly_fields = ("number", "created_at", "created_by")
    show_change_link = True
    verbose_name_plural = "published revisions"
    classes = ("collapse",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ChapterRevision]:
        return super().get_queryset(request).defer("content", "page", "answers")


class ChapterInline(SortableTabularInline):
    """The order of a course's chapters."""

    model = Chapter
    fields = ("title", "slug", "published")
    readonly_fields = ("title", "slug", "published")
    extra = 0
    can_delete = False
    show_change_link = True

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
