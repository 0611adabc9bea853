"""What readers see: immutable revisions of a chapter, and the stylesheets of their formulas."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models

from .course import Chapter


class ImmutableError(TypeError):
    """An immutable row was saved again."""


class MathStylesheet(models.Model):
    """The classes of one rendering of formulas, addressed by its hash."""

    hash = models.CharField(max_length=64, unique=True)
    css = models.TextField()

    def __str__(self) -> str:
        return self.hash


class ChapterRevision(models.Model):
    """A chapter as published: source (`content`), page as HTML pieces, answers for the server.

    `question_versions` maps each question's key to a hash of what decides whether an answer is
    right. An attempt counts while its question has this version; wording may change freely.
    """

    chapter = models.ForeignKey(Chapter, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    content = models.JSONField()
    content_hash = models.CharField(max_length=64)
    page = models.JSONField()
    answers = models.JSONField()
    question_versions = models.JSONField(default=dict)
    build_version = models.PositiveIntegerField()
    stylesheet = models.ForeignKey(
        MathStylesheet, on_delete=models.PROTECT, related_name="revisions", null=True
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["chapter", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["chapter", "number"], name="courses_revision_once"),
            models.CheckConstraint(
                condition=models.Q(number__gte=1), name="courses_revision_number_positive"
            ),
        ]

    def __str__(self) -> str:
        return f"Revision {self.number}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise ImmutableError("A revision is never changed: publish a new one.")
        super().save(*args, **kwargs)
