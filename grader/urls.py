"""Addresses of the grader's pages, under the site's root."""

from __future__ import annotations

from django.urls import path, register_converter

from .models.ids import ALPHABET, PUBLIC_ID_LENGTH
from .web import views


class PublicIdConverter:
    regex = f"[{ALPHABET}]{{{PUBLIC_ID_LENGTH}}}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(PublicIdConverter, "publicid")

app_name = "grader"

urlpatterns = [
    path("exercises/<slug:slug>/", views.exercise_page, name="exercise"),
    path("exercises/<slug:slug>/submit", views.submit, name="submit"),
    path("submissions/", views.submissions, name="submissions"),
    path("submissions/<publicid:public_id>/", views.submission_page, name="submission"),
    path("submissions/<publicid:public_id>/source", views.source, name="source"),
    path("submissions/<publicid:public_id>/resubmit", views.resubmit, name="resubmit"),
]
