"""Addresses of the pages that learners read."""

from __future__ import annotations

from django.urls import path

from courses import views

app_name = "courses"

urlpatterns = [
    path("", views.home, name="home"),
    path("dashboard/", views.dashboard, name="dashboard"),
    path("theme/", views.theme, name="theme"),
    path("math/<str:stylesheet_hash>.css", views.math_css, name="math_css"),
    path("courses/<slug:course_slug>/", views.course, name="course"),
    path("courses/<slug:course_slug>/<slug:chapter_slug>/", views.chapter, name="chapter"),
    path(
        "courses/<slug:course_slug>/<slug:chapter_slug>/questions/<slug:question_key>/answer",
        views.answer,
        name="answer",
    ),
    path(
        "courses/<slug:course_slug>/<slug:chapter_slug>/files/<str:filename>",
        views.listing,
        name="listing",
    ),
]
