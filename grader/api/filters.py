"""The filters of the list of submissions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import django_filters
from django.contrib.auth.models import User
from django.db.models import QuerySet

from courses.accounts.names import find_account
from grader import queries
from grader.deadlines import IN_TIME, LATE, with_deadline
from grader.models import Exercise, Outcome, Submission, SubmissionState, Track

from .fields import MomentFilter, ScoreFilter, as_it_stands
from .permissions import sees_all


class SubmissionFilter(django_filters.FilterSet):
    exercise = django_filters.CharFilter(
        "exercise__slug", help_text="An exercise's slug.", max_length=Exercise.slug.field.max_length
    )
    track = django_filters.ChoiceFilter(choices=Track.choices, help_text="The track.")
    learner = django_filters.CharFilter(
        method="by_learner",
        help_text="A user name, whatever its case.",
        max_length=User._meta.get_field("username").max_length,
    )
    state = django_filters.ChoiceFilter(
        choices=SubmissionState.choices, help_text="Where the submission is."
    )
    outcome = django_filters.ChoiceFilter(
        choices=Outcome.choices, help_text="How the grading, or a grader, settled it."
    )
    score_min = ScoreFilter("score", "gte", help_text="Scores from this one up, 0 to 1.")
    score_max = ScoreFilter("score", "lte", help_text="Scores up to this one, 0 to 1.")
    created_after = MomentFilter(
        "created_at", "gte", help_text="Made at this time or later; with its zone."
    )
    created_before = MomentFilter(
        "created_at", "lt", help_text="Made before this time; with its zone."
    )
    late = django_filters.ChoiceFilter(
        choices=[("true", "after the deadline"), ("false", "in time, or without a deadline")],
        method="by_lateness",
        help_text="Whether it was submitted after its learner's deadline.",
    )

    class Meta:
        model = Submission
        fields: tuple[str, ...] = ()

    def is_valid(self) -> bool:
        """Also refuse unknown names: an empty list would suggest that they exist."""
        if super().is_valid():
            for name, sentence in self._unknown(self.form.cleaned_data):
                self.form.add_error(name, as_it_stands(sentence))
        return bool(super().is_valid())

    def _unknown(self, wanted: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        # Without a request it is a grader's choice of submissions.
        everything = self.request is None or sees_all(self.request)
        slug, learner = wanted["exercise"], wanted["learner"]
        if slug and not self._is_known(slug, everything=everything):
            yield "exercise", f"There is no exercise {slug}."
        # Learners do not learn who has an account here.
        if learner and everything and find_account(learner) is None:
            yield "learner", f"There is no user {learner}."

    def _is_known(self, slug: str, *, everything: bool) -> bool:
        if everything:
            return Exercise.objects.filter(slug=slug).exists()
        shown = queries.visible_exercises(self.request.user).filter(slug=slug)
        # Submissions to an exercise that was withdrawn since still belong to their learner.
        return shown.exists() or self.queryset.filter(exercise__slug=slug).exists()

    def by_learner(
        self, submissions: QuerySet[Submission], name: str, value: str
    ) -> QuerySet[Submission]:
        account = find_account(value)
        return submissions.filter(user=account) if account else submissions.none()

    def by_lateness(
        self, submissions: QuerySet[Submission], name: str, value: str
    ) -> QuerySet[Submission]:
        return with_deadline(submissions).filter(LATE if value == "true" else IN_TIME)
