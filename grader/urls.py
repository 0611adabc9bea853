"""Addresses of the grader's pages, under the site's root."""

from __future__ import annotations

from django.urls import path

from . import converters as _converters  # noqa: F401  registers the converter publicid
from .web import exercise_views, run_views, views

app_name = "grader"

urlpatterns = [
    path("exercises/<slug:slug>/", exercise_views.exercise_page, name="exercise"),
    path("exercises/<slug:slug>/submit", exercise_views.submit, name="submit"),
    path("exercises/<slug:slug>/run", run_views.run_public_cases, name="run_public_cases"),
    path("exercises/<slug:slug>/draft", exercise_views.draft, name="draft"),
    path("exercises/<slug:slug>/download", exercise_views.download, name="download"),
    path("exercises/<slug:slug>/check.py", exercise_views.check_script, name="check_script"),
    path("exercises/<slug:slug>/compare", exercise_views.compare, name="compare"),
    path("runs/<publicid:public_id>/", run_views.run_page, name="run"),
    path(
        "run/<slug:course_slug>/<slug:chapter_slug>/<str:filename>",
        run_views.run_listing,
        name="run_listing",
    ),
    path("submissions/", views.submissions, name="submissions"),
    path("submissions/<publicid:public_id>/", views.submission_page, name="submission"),
    path("submissions/<publicid:public_id>/source", views.source, name="source"),
    path("submissions/<publicid:public_id>/resubmit", views.resubmit, name="resubmit"),
]
