"""Addresses of the pages that learners read."""

from __future__ import annotations

from django.urls import path

from courses.accounts import views as account_views
from courses.pages import views
from courses.search.views import search_page

app_name = "courses"

urlpatterns = [
    path("", views.home, name="home"),
    path("dashboard/", views.dashboard, name="dashboard"),
    path("accounts/profile/", account_views.profile, name="profile"),
    path("accounts/delete/", account_views.delete, name="delete_account"),
    path("search/", search_page, name="search"),
    path("favicon.ico", views.favicon, name="favicon"),
    path("theme/", views.theme, name="theme"),
    path("math/<slug:stylesheet_hash>.css", views.math_css, name="math_css"),
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
