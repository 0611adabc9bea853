"""Exercises as the site shows them; what is graded, and how, is in the engine's registry."""

from __future__ import annotations

from django.db import models
from django.urls import reverse
from simple_history.models import HistoricalRecords


class Exercise(models.Model):
    """The statement of an exercise. The slug is the name of the engine's exercise."""

    slug = models.SlugField(max_length=64, unique=True)
    title = models.CharField(max_length=200)
    chapter = models.ForeignKey(
        "courses.Chapter",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="exercises",
        help_text="The chapter at whose foot the exercise is offered.",
    )
    chapter_slug = models.SlugField(
        max_length=100,
        blank=True,
        help_text="The chapter named in the exercise's file, kept for when that chapter is loaded.",
    )
    position = models.PositiveSmallIntegerField(default=0)
    summary = models.TextField(help_text="One or two sentences, Markdown with $TeX$.")
    statement = models.TextField(help_text="Markdown with $TeX$.")
    is_published = models.BooleanField("published", default=False)
    accepts_submissions = models.BooleanField(
        default=True,
        help_text="Untick to close the exercise: it stays readable, new submissions are refused.",
    )

    due_at = models.DateTimeField(
        "deadline",
        null=True,
        blank=True,
        help_text="In UTC; empty for none. It holds until the end of its minute. What comes later "
        "is graded all the same and marked as late; moving the deadline decides anew.",
    )

    # Rendered when saved; pages only read.
    summary_html = models.TextField(blank=True, editable=False)
    statement_html = models.TextField(blank=True, editable=False)
    stylesheet = models.ForeignKey(
        "courses.MathStylesheet",
        on_delete=models.PROTECT,
        null=True,
        editable=False,
        related_name="exercises",
    )
    renderer_version = models.PositiveIntegerField(default=0, editable=False)

    loaded_digest = models.CharField(
        max_length=64,
        blank=True,
        editable=False,
        help_text="Digest of the fields as the last load from a file left them.",
    )
    loaded_due_at = models.DateTimeField(
        null=True, editable=False, help_text="The deadline as the last load from a file left it."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    history = HistoricalRecords(
        excluded_fields=["summary_html", "statement_html", "stylesheet", "renderer_version"]
    )

    class Meta:
        ordering = ("position", "slug")
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(slug=""), name="grader_exercise_slug_not_empty"
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("grader:exercise", args=[self.slug])

    @property
    def is_open_to_learners(self) -> bool:
        """Whether learners see it: it is published, and so is its chapter, if it has one."""
        return self.is_published and (self.chapter is None or self.chapter.published)

    @property
    def requirement(self) -> str:
        """The name by which a chapter requires this exercise."""
        return f"exercise:{self.slug}"
