"""Courses and their chapters, as authors edit them. Readers see revisions (`revision.py`)."""

from __future__ import annotations

from django.db import models
from django.urls import reverse
from simple_history.models import HistoricalRecords

from .identity import Addressed, OldSlug


class Course(Addressed):
    title = models.CharField(max_length=200)
    summary = models.TextField(blank=True, help_text="One or two sentences, plain text.")
    position = models.PositiveIntegerField(default=0, help_text="Place in the list of courses.")
    imported_files_hash = models.CharField(max_length=64, blank=True, editable=False)
    imported_content_hash = models.CharField(max_length=64, blank=True, editable=False)

    history = HistoricalRecords(excluded_fields=["uid"])

    class Meta:
        ordering = ["position", "slug"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("courses:course", args=[self.slug])


class Chapter(Addressed):
    """One chapter. All text is Markdown with $TeX$.

    `imported_files_hash` is the hash of the files at the last import (nothing to do while equal),
    `imported_content_hash` that of the content they gave (different from the content now: edited
    since in the admin).
    """

    course = models.ForeignKey(Course, on_delete=models.CASCADE, related_name="chapters")
    title = models.CharField(max_length=200)
    summary = models.TextField(blank=True)
    minutes = models.PositiveSmallIntegerField(
        default=30, help_text="Time that an attentive reader needs, in minutes."
    )
    requirements = models.JSONField(
        default=list,
        blank=True,
        help_text="Names of what completes the chapter; quiz means all its questions.",
    )
    prerequisites = models.TextField(
        blank=True, help_text="What a reader should know before, with links; a Markdown list."
    )
    intuition = models.TextField(blank=True)
    formulas_intro = models.TextField(blank=True)
    derivation_intro = models.TextField(blank=True)
    mechanism_intro = models.TextField(blank=True)
    code_intro = models.TextField(blank=True)
    summary_text = models.TextField(blank=True)
    references = models.TextField(blank=True, help_text="A Markdown list.")
    position = models.PositiveIntegerField(default=0, help_text="Place in the course.")
    published = models.BooleanField(
        default=True, help_text="Only published chapters can be seen by learners."
    )
    current_revision = models.ForeignKey(
        "courses.ChapterRevision",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
    )
    imported_files_hash = models.CharField(max_length=64, blank=True, editable=False)
    imported_content_hash = models.CharField(max_length=64, blank=True, editable=False)

    history = HistoricalRecords(excluded_fields=["current_revision", "uid"])

    class Meta:
        ordering = ["position", "slug"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(minutes__gte=1), name="courses_chapter_minutes_positive"
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("courses:chapter", args=[self.course.slug, self.slug])


class OldCourseSlug(OldSlug):
    course = models.ForeignKey(Course, on_delete=models.CASCADE, related_name="old_slugs")


class OldChapterSlug(OldSlug):
    chapter = models.ForeignKey(Chapter, on_delete=models.CASCADE, related_name="old_slugs")
