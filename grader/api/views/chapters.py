"""`chapters/`: published chapters, and answering their questions."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse, QueryDict
from django.urls import reverse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from courses.learners import learner_of
from courses.models import Chapter
from courses.pages.old_addresses import current_chapter, moved
from courses.quiz.attempts import answer_question
from courses.quiz.kinds import AnswerError, check, read
from courses.quiz.output import MAX_OUTPUT_CHARACTERS
from grader.api.base import ApiView, PublicApiView, caller, problems
from grader.api.fields import StrictCharField, StrictSerializer
from grader.api.permissions import Scoped
from grader.api.serializers import ChapterSerializer, ChapterSummarySerializer
from grader.models import Scope

MAX_CHOICES = 100


def _chapters() -> Any:
    published = Chapter.objects.filter(published=True, current_revision__isnull=False)
    return published.select_related("course", "current_revision").order_by(
        "course__position", "course__slug", "position", "slug"
    )


def published_chapter(slug: str) -> Chapter:
    """Return a published chapter; 404 without one."""
    chapter: Chapter | None = _chapters().filter(slug=slug).first()
    if chapter is None:
        raise Http404
    return chapter


def _moved_to(name: str, slug: str) -> str | None:
    """Return the present address of the chapter that formerly had this slug, or None."""
    chapter = current_chapter(slug)
    return reverse(name, args=[chapter.slug]) if chapter else None


MOVED = OpenApiResponse(
    description="The chapter has another slug now; a header of the answer says which."
)


class NewAnswerSerializer(StrictSerializer):
    """`choices` for questions with choices, orders and pairs, `value` for numbers and output."""

    question = StrictCharField(max_length=100, help_text="The question's key.")
    choices = serializers.ListField(
        child=StrictCharField(max_length=100),
        required=False,
        max_length=MAX_CHOICES,
        help_text=(
            "Keys of choices; for an order, the keys of all its items, in order; "
            "for pairs, `left:right` with the keys of both sides, for each left side."
        ),
    )
    value = StrictCharField(
        required=False,
        max_length=MAX_OUTPUT_CHARACTERS,
        trim_whitespace=False,
        help_text="A number, or what the program prints.",
    )


class FeedbackSerializer(serializers.Serializer[Any]):
    """What is said of one choice."""

    choice = serializers.CharField()
    correct = serializers.BooleanField()
    html = serializers.CharField()


class AnswerSerializer(serializers.Serializer[Any]):
    """Whether an answer is right, and why."""

    question = serializers.CharField()
    correct = serializers.BooleanField()
    attempt = serializers.IntegerField(min_value=1)
    message = serializers.CharField()
    feedback = FeedbackSerializer(many=True)
    explanation_html = serializers.CharField(
        allow_null=True, help_text="Given once the answer is right."
    )


class ChaptersView(PublicApiView):
    scopes = {"GET": Scope.READ}

    @extend_schema(
        operation_id="chapters_list",
        summary="List the published chapters",
        responses={200: ChapterSummarySerializer(many=True), **problems(403)},
        tags=["chapters"],
    )
    def get(self, request: Request) -> Response:
        context = {"request": request}
        return Response(ChapterSummarySerializer(_chapters(), many=True, context=context).data)


class ChapterView(PublicApiView):
    scopes = {"GET": Scope.READ}

    @extend_schema(
        operation_id="chapters_retrieve",
        summary="A chapter as published",
        responses={200: ChapterSerializer, 301: MOVED, **problems(403, 404)},
        tags=["chapters"],
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        if url := _moved_to("api:chapter", slug):
            return moved(url, "GET")
        return Response(
            ChapterSerializer(published_chapter(slug), context={"request": request}).data
        )


class AnswersView(ApiView):
    permission_classes: Any = (IsAuthenticated, Scoped)
    scopes = {"POST": Scope.SUBMIT}

    @extend_schema(
        operation_id="chapters_answer",
        summary="Answer a question",
        description="The same answer as last time, or any after a right one, makes no new attempt.",
        request=NewAnswerSerializer,
        responses={200: AnswerSerializer, 308: MOVED, **problems(400, 403, 404, 413, 415)},
        tags=["chapters"],
    )
    def post(self, request: Request, slug: str) -> HttpResponse:
        if url := _moved_to("api:answers", slug):
            return moved(url, "POST")
        chapter = published_chapter(slug)
        given = NewAnswerSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        revision = chapter.current_revision
        key = given.validated_data["question"]
        if revision is None or key not in revision.answers:
            raise serializers.ValidationError(
                {"question": ["The chapter has no question with this key."]}
            )
        answers = revision.answers[key]
        try:
            answer = read(answers, _as_form(given.validated_data))
        except AnswerError as error:
            raise serializers.ValidationError({"answer": [str(error)]}) from error
        attempt = answer_question(learner_of(caller(request)), revision, key, answer)
        result = check(answers, attempt.answer)
        body = {
            "question": key,
            "correct": attempt.correct,
            "attempt": attempt.number,
            "message": result.message,
            "feedback": result.feedback,
            "explanation_html": answers.get("explanation_html", "") if attempt.correct else None,
        }
        return Response(AnswerSerializer(body).data)


def _as_form(data: dict[str, Any]) -> QueryDict:
    """Return the answer as the page's form would send it, so that one parser reads both."""
    form = QueryDict(mutable=True)
    form.setlist("choice", data.get("choices", []))
    form["value"] = data.get("value", "")
    return form
