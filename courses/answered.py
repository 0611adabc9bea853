"""Learners' answers follow the keys of their questions and choices.

An attempt names its question and its choices by keys. When an author renames a key, the answers
move along. The primary key tells a renamed row from a new one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Count, Model, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from courses.content.errors import ContentError
from courses.models import Chapter, Choice, MatchingPair, OrderingItem, Question, QuizAttempt
from courses.publishing.answers import version_of
from courses.rendering import SourceError

# Of the kinds whose answers are made of keys: the rows, and what beside their keys decides.
_ROWS: Final[dict[str, tuple[type[Model], str, Callable[[Any], dict[str, Any]]]]] = {
    "single": (Choice, "choices", lambda row: {"correct": row.correct}),
    "multiple": (Choice, "choices", lambda row: {"correct": row.correct}),
    "ordering": (OrderingItem, "items", lambda row: {}),
    "matching": (MatchingPair, "pairs", lambda row: {"left": row.left}),
}
MAX_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class Keys:
    """A question's key, and of its rows the keys by primary key, with what decides of each."""

    key: str
    kind: str
    rows: dict[int, tuple[str, dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Carried:
    """A key that was renamed, and how many learners' answers went along."""

    old: str
    new: str
    learners: int

    def __str__(self) -> str:
        return (
            f"The key “{self.old}” is “{self.new}” now. {counted(self.learners)} answered it: "
            "their answers went along."
        )


def keys_of(chapter: Chapter) -> dict[int, Keys]:
    """Return the keys of a chapter's questions by primary key, as the database has them."""
    questions = list(Question.objects.filter(chapter_id=chapter.pk).values("pk", "key", "kind"))
    rows: dict[int, dict[int, tuple[str, dict[str, Any]]]] = defaultdict(dict)
    for model, decides in {model: decides for model, _, decides in _ROWS.values()}.items():
        found: Any = model._base_manager.filter(question__chapter_id=chapter.pk)
        for row in found.order_by("position", "pk"):
            rows[row.question_id][row.pk] = (row.key, decides(row))
    return {each["pk"]: Keys(each["key"], each["kind"], rows[each["pk"]]) for each in questions}


def carry_answers(chapter: Chapter, before: Mapping[int, Keys]) -> list[Carried]:
    """Move the answers to keys renamed since `before`; call it in the save's transaction.

    Raises:
        ContentError: a new key already has answers, of a question that was deleted.
    """
    now = keys_of(chapter)
    renamed = {
        old.key: now[pk].key for pk, old in before.items() if pk in now and now[pk].key != old.key
    }
    _refuse_taken(chapter, renamed, {old.key for old in before.values()})
    learners = learners_by_key(chapter, renamed)
    _rename(chapter, renamed)
    for pk, old in before.items():
        if pk in now:
            _carry_rows(chapter, old, now[pk])
    return [Carried(old, new, learners[old]) for old, new in renamed.items() if learners.get(old)]


def learners_by_key(chapter: Chapter, keys: Iterable[str]) -> dict[str, int]:
    """Return the number of learners who answered each of these questions; zeros are left out."""
    answered = _attempts(chapter, keys).order_by().values("question_key")
    counts = answered.annotate(learners=Count("learner", distinct=True))
    return {row["question_key"]: row["learners"] for row in counts}


def with_learners(questions: QuerySet[Question]) -> QuerySet[Question]:
    """Annotate each question with the number of learners who answered it."""
    own = QuizAttempt.objects.filter(
        chapter=OuterRef("chapter"), question_key=OuterRef("key")
    ).order_by()
    learners = own.values("question_key").annotate(number=Count("learner", distinct=True))
    return questions.annotate(learners=Coalesce(Subquery(learners.values("number")), 0))


def answered_text(question: Question) -> str:
    """Say how many learners have answered a question, and what changing its key would do."""
    learners = getattr(question, "learners", 0)
    if not learners:
        return "none has answered it"
    return f"{counted(learners)} answered it. With another key their answers go along."


def counted(learners: int) -> str:
    return "1 learner has" if learners == 1 else f"{learners:,} learners have"


def _attempts(chapter: Chapter, keys: Iterable[str]) -> QuerySet[QuizAttempt]:
    return QuizAttempt.objects.filter(chapter_id=chapter.pk, question_key__in=list(keys))


def _refuse_taken(chapter: Chapter, renamed: Mapping[str, str], known: set[str]) -> None:
    """Answers to a question that is gone must not become answers to another one."""
    taken = learners_by_key(chapter, set(renamed.values()) - known)
    if not taken:
        return
    raise ContentError(
        {
            f"questions/{key}/key": [
                SourceError(
                    1,
                    1,
                    f"{counted(learners)} answered an earlier question with the key “{key}”, which "
                    "is gone. Choose another key: their answers would count for this question.",
                    "",
                )
            ]
            for key, learners in taken.items()
        }
    )


def _rename(chapter: Chapter, renamed: Mapping[str, str]) -> None:
    """Rename by way of a temporary key: two keys may have been swapped."""
    between = {old: f"~{place}" for place, old in enumerate(renamed)}
    for old, name in between.items():
        _attempts(chapter, [old]).update(question_key=name)
    for old, name in between.items():
        _attempts(chapter, [name]).update(question_key=renamed[old])


def _carry_rows(chapter: Chapter, old: Keys, new: Keys) -> None:
    """Write answers with the new keys of choices where nothing else about them has changed."""
    renamed = {
        key: new.rows[pk][0]
        for pk, (key, _) in old.rows.items()
        if pk in new.rows and new.rows[pk][0] != key
    }
    if not renamed or old.kind != new.kind or old.kind not in _ROWS:
        return
    under_new_names = [(renamed.get(key, key), rest) for key, rest in old.rows.values()]
    version = _version(new.kind, new.rows.values())
    if _version(old.kind, under_new_names) != version:
        return
    attempts = _attempts(chapter, [new.key])
    former = attempts.filter(question_version=_version(old.kind, old.rows.values()))
    by_answer: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for pk, answer in former.values_list("pk", "answer"):
        by_answer[tuple(answer)].append(pk)
    for given, pks in by_answer.items():
        answer = _with_new_keys(new.kind, given, renamed)
        for begin in range(0, len(pks), MAX_AT_ONCE):
            some = QuizAttempt.objects.filter(pk__in=pks[begin : begin + MAX_AT_ONCE])
            some.update(answer=answer, question_version=version)


def _with_new_keys(kind: str, given: Iterable[str], renamed: Mapping[str, str]) -> list[str]:
    """Return an answer in the form in which `courses.quiz` stores it."""
    if kind == "matching":
        pairs = (pair.split(":", 1) for pair in given)
        return sorted(":".join(renamed.get(key, key) for key in pair) for pair in pairs)
    answer = [renamed.get(key, key) for key in given]
    return answer if kind == "ordering" else sorted(answer)


def _version(kind: str, rows: Iterable[tuple[str, dict[str, Any]]]) -> str:
    _, name, _ = _ROWS[kind]
    return version_of(kind, {name: [{"key": key, **rest} for key, rest in rows]})
