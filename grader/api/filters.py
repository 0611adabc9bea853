"""The filters of the list of submissions."""

from __future__ import annotations

import django_filters
from django.contrib.auth.models import User
from django.db.models import QuerySet

from grader.deadlines import IN_TIME, LATE, with_deadline
from grader.models import Exercise, Outcome, Submission, SubmissionState, Track

from .fields import MomentFilter, ScoreFilter


class SubmissionFilter(django_filters.FilterSet):
    exercise = django_filters.CharFilter(
        "exercise__slug", help_text="An exercise's slug.", max_length=Exercise.slug.field.max_length
    )
    track = django_filters.ChoiceFilter(choices=Track.choices)
    learner = django_filters.CharFilter(
        "user__username",
        help_text="A user name.",
        max_length=User._meta.get_field("username").max_length,
    )
    state = django_filters.ChoiceFilter(choices=SubmissionState.choices)
    outcome = django_filters.ChoiceFilter(choices=Outcome.choices)
    score_min = ScoreFilter("score", "gte", help_text="Scores from this one up, 0 to 1.")
    score_max = ScoreFilter("score", "lte", help_text="Scores up to this one, 0 to 1.")
    created_after = MomentFilter("created_at", "gte", help_text="Made at this time or later.")
    created_before = MomentFilter("created_at", "lt", help_text="Made before this time.")
    late = django_filters.ChoiceFilter(
        choices=[("true", "after the deadline"), ("false", "in time, or without a deadline")],
        method="by_lateness",
        help_text="Whether it was submitted after its learner's deadline: true or false.",
    )

    class Meta:
        model = Submission
        fields: tuple[str, ...] = ()

    def by_lateness(
        self, submissions: QuerySet[Submission], name: str, value: str
    ) -> QuerySet[Submission]:
        return with_deadline(submissions).filter(LATE if value == "true" else IN_TIME)
