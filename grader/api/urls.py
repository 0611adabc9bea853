"""Addresses of the REST API, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from grader import converters as _converters  # noqa: F401  registers the converter publicid

from .views import (
    chapters,
    docs,
    events,
    exercises,
    index,
    override,
    regrades,
    runs,
    submissions,
    tokens,
    workers,
)

app_name = "api"

urlpatterns = [
    path("", index.IndexView.as_view(), name="index"),
    path("tokens/", tokens.TokensView.as_view(), name="tokens"),
    path("tokens/<publicid:public_id>/", tokens.TokenView.as_view(), name="token"),
    path("chapters/", chapters.ChaptersView.as_view(), name="chapters"),
    path("chapters/<slug:slug>/", chapters.ChapterView.as_view(), name="chapter"),
    path("chapters/<slug:slug>/answers/", chapters.AnswersView.as_view(), name="answers"),
    path("exercises/", exercises.ExercisesView.as_view(), name="exercises"),
    path("exercises/<slug:slug>/", exercises.ExerciseView.as_view(), name="exercise"),
    path("exercises/<slug:slug>/submissions/", exercises.SubmitView.as_view(), name="submit"),
    path("submissions/", submissions.SubmissionsView.as_view(), name="submissions"),
    path(
        "submissions/<publicid:public_id>/",
        submissions.SubmissionView.as_view(),
        name="submission",
    ),
    path(
        "submissions/<publicid:public_id>/source",
        submissions.SourceView.as_view(),
        name="source",
    ),
    path("submissions/<publicid:public_id>/events/", events.EventsView.as_view(), name="events"),
    path(
        "submissions/<publicid:public_id>/resubmit/",
        submissions.ResubmitView.as_view(),
        name="resubmit",
    ),
    path(
        "submissions/<publicid:public_id>/second-verdict/",
        submissions.SecondVerdictView.as_view(),
        name="second-verdict",
    ),
    path(
        "submissions/<publicid:public_id>/decision/",
        submissions.DecisionView.as_view(),
        name="decision",
    ),
    path(
        "submissions/<publicid:public_id>/override/",
        override.OverrideView.as_view(),
        name="override",
    ),
    path("runs/", runs.RunsView.as_view(), name="runs"),
    path("runs/<publicid:public_id>/", runs.RunView.as_view(), name="run"),
    path("regrades/", regrades.RegradesView.as_view(), name="regrades"),
    path("regrades/<publicid:public_id>/", regrades.RegradeView.as_view(), name="regrade"),
    path(
        "regrades/<publicid:public_id>/items/",
        regrades.RegradeItemsView.as_view(),
        name="regrade-items",
    ),
    path(
        "regrades/<publicid:public_id>/commit/",
        regrades.CommitView.as_view(),
        name="regrade-commit",
    ),
    path("regrades/<publicid:public_id>/undo/", regrades.UndoView.as_view(), name="regrade-undo"),
    path("workers/", workers.WorkersView.as_view(), name="workers"),
    path("schema/", docs.SchemaView.as_view(), name="schema"),
    path("docs/", docs.docs, name="docs"),
]
