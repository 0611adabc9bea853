"""Admin pages of courses, chapters, and the parts of a chapter with a page of their own."""

from __future__ import annotations

from typing import Any

from adminsortable2.admin import SortableAdminBase
from django.contrib import admin, messages
from django.db.models import Max, QuerySet
from django.http import HttpRequest, HttpResponseBase
from simple_history.admin import SimpleHistoryAdmin

from courses import services
from courses.answered import answered_text, counted, with_learners
from courses.content.schema import PART_TEXTS
from courses.models import (
    Chapter,
    ChapterRevision,
    Course,
    Formula,
    OldChapterSlug,
    OldCourseSlug,
    Question,
)

from .conflicts import LoadedStateForm, RefuseStaleMixin
from .deleting import KeepWhatLearnersUsedMixin
from .forms import ChapterForm, FormulaForm, QuestionForm
from .inlines import (
    ChapterInline,
    ChoiceInline,
    DerivationStepInline,
    FigureInline,
    FormulaInline,
    FormulaSymbolInline,
    ListingInline,
    MatchingPairInline,
    MechanismStepInline,
    NumericHintInline,
    OrderingItemInline,
    QuestionInline,
    RevisionInline,
)
from .publishing import TEXT_OVERRIDES, PublishOnSaveAdmin

DELETE_PAGES_WITH_REVISIONS = {"courses_chapter_delete", "courses_course_delete"}


@admin.register(Course)
class CourseAdmin(
    KeepWhatLearnersUsedMixin, RefuseStaleMixin, SortableAdminBase, SimpleHistoryAdmin
):
    form = LoadedStateForm
    actions = None
    list_display = ("title", "slug", "position")
    fields = ("title", "slug", "summary", "position")
    formfield_overrides = TEXT_OVERRIDES
    inlines = (ChapterInline,)

    def chapters_lost(self, obj: Any) -> QuerySet[Chapter]:
        return Chapter.objects.filter(course=obj)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        for chapter in obj.chapters.all():
            services.delete_chapter(chapter)
        super().delete_model(request, obj)


@admin.register(Chapter)
class ChapterAdmin(KeepWhatLearnersUsedMixin, PublishOnSaveAdmin):
    form = ChapterForm
    list_display = ("title", "course", "position", "published", "current_revision")
    list_filter = ("course", "published")
    list_select_related = ("course", "current_revision")
    search_fields = ("title", "slug")
    readonly_fields = ("current_revision",)
    actions = None
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("course", "slug"),
                    "title",
                    "summary",
                    ("minutes", "requirements"),
                    ("published", "current_revision"),
                )
            },
        ),
        (
            "Text between the parts",
            {
                "classes": ("collapse",),
                "fields": PART_TEXTS,
            },
        ),
    )
    inlines = (
        FormulaInline,
        DerivationStepInline,
        MechanismStepInline,
        ListingInline,
        FigureInline,
        QuestionInline,
        RevisionInline,
    )

    def chapter_of(self, obj: Any) -> Chapter:
        chapter: Chapter = obj
        return chapter

    def chapters_lost(self, obj: Any) -> QuerySet[Chapter]:
        return Chapter.objects.filter(pk=obj.pk)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        services.delete_chapter(obj)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """A chapter that begins in the admin is seen by learners once its author says so."""
        return {"published": False, **super().get_changeform_initial_data(request)}

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        self.begin_writing(request, obj, change)
        if not change:
            obj.position = _next_position(Chapter.objects.filter(course=obj.course))
        super().save_model(request, obj, form, change)


class PartAdmin(PublishOnSaveAdmin):
    """A part of a chapter that has rows of its own; saving or deleting it publishes the chapter."""

    list_filter: tuple[str, ...] = ("chapter",)
    list_select_related = ("chapter",)
    actions = None

    def chapter_of(self, obj: Any) -> Chapter:
        chapter: Chapter = obj.chapter
        return chapter

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        # Moved to another chapter, a part would leave the old one unpublished.
        return ("chapter",) if obj is not None else ()

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        self.begin_writing(request, obj, change)
        if not change:
            obj.position = _next_position(type(obj).objects.filter(chapter=obj.chapter))
        super().save_model(request, obj, form, change)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        chapter = obj.chapter
        super().delete_model(request, obj)
        self._publish(request, chapter)


@admin.register(Formula)
class FormulaAdmin(PartAdmin):
    form = FormulaForm
    list_display = ("title", "key", "chapter")
    search_fields = ("title", "key")
    fields = ("chapter", "key", "title", "tex", "numpy", "spoken", "note")
    inlines = (FormulaSymbolInline,)


@admin.register(Question)
class QuestionAdmin(PartAdmin):
    form = QuestionForm
    list_display = ("key", "kind", "chapter")
    list_filter = ("chapter", "kind")
    search_fields = ("key", "prompt")
    fieldsets = (
        (None, {"fields": ("chapter", ("key", "answered"), "kind", "prompt", "explanation")}),
        ("A number", {"fields": (("answer", "tolerance"),)}),
        ("What a program prints", {"fields": ("language", "code", "output")}),
    )
    inlines = (ChoiceInline, OrderingItemInline, MatchingPairInline, NumericHintInline)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Question]:
        return with_learners(super().get_queryset(request))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return (*super().get_readonly_fields(request, obj), "answered")

    @admin.display(description="learners")
    def answered(self, question: Question) -> str:
        return answered_text(question)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        question = self.get_object(request, object_id)
        learners = getattr(question, "learners", 0)
        if learners and request.method != "POST":
            messages.warning(
                request,
                f"{counted(learners)} answered this question. Their answers are kept and count no "
                "longer; what they have completed stays completed. To give it another name, change "
                "its key instead: the answers go along.",
            )
        response: HttpResponseBase = super().delete_view(request, object_id, extra_context)
        return response

    def before_publishing(self, obj: Any) -> None:
        services.drop_rows_of_other_kinds(obj)


@admin.register(OldCourseSlug, OldChapterSlug)
class OldSlugAdmin(admin.ModelAdmin):
    """Former addresses, which redirect to where their course or chapter is now. Deleting frees
    them.
    """

    list_display = ("slug", "leads_to", "created_at")
    search_fields = ("slug",)

    @admin.display(description="leads to")
    def leads_to(self, old: OldCourseSlug | OldChapterSlug) -> str:
        return str(old.course if isinstance(old, OldCourseSlug) else old.chapter)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(ChapterRevision)
class ChapterRevisionAdmin(admin.ModelAdmin):
    """Published revisions, to be read."""

    list_display = ("chapter", "number", "created_at", "created_by")
    list_filter = ("chapter",)
    list_select_related = ("chapter", "created_by")
    fields = ("chapter", "number", "created_at", "created_by", "content_hash", "content")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Only with the chapter: the admin asks this for each row that a deletion takes along."""
        match = request.resolver_match
        if match is None or match.url_name not in DELETE_PAGES_WITH_REVISIONS:
            return False
        return super().has_delete_permission(request, obj)


def _next_position(siblings: Any) -> int:
    return int(siblings.aggregate(last=Max("position"))["last"] or 0) + 1
