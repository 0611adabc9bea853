"""Learners, their answers and completions. Nothing here changes when authors edit."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models

from .course import Chapter
from .revision import ChapterRevision


class Learner(models.Model):
    """A learner: an account, or a session without one (`user` empty)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="learner",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at", "id"]

    def __str__(self) -> str:
        return str(self.user) if self.user else f"Learner without account {self.id}"


class QuizAttempt(models.Model):
    """One answer; `answer` is a sorted list of choice keys, or the text typed."""

    learner = models.ForeignKey(Learner, on_delete=models.CASCADE, related_name="attempts")
    chapter = models.ForeignKey(Chapter, on_delete=models.PROTECT, related_name="attempts")
    revision = models.ForeignKey(ChapterRevision, on_delete=models.PROTECT, related_name="attempts")
    question_key = models.CharField(max_length=80)
    question_version = models.CharField(max_length=64)
    number = models.PositiveIntegerField()
    answer = models.JSONField()
    correct = models.BooleanField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["chapter", "question_key", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["learner", "chapter", "question_key", "number"],
                name="courses_attempt_number_once",
            ),
            models.CheckConstraint(
                condition=models.Q(number__gte=1), name="courses_attempt_number_positive"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.question_key}, attempt {self.number}"


class RequirementMet(models.Model):
    learner = models.ForeignKey(Learner, on_delete=models.CASCADE, related_name="requirements_met")
    chapter = models.ForeignKey(Chapter, on_delete=models.PROTECT, related_name="requirements_met")
    name = models.CharField(max_length=100)
    met_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "requirements met"
        ordering = ["chapter", "name"]
        constraints = [
            models.UniqueConstraint(
                fields=["learner", "chapter", "name"], name="courses_requirement_once"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ChapterCompletion(models.Model):
    """Written once, the moment all requirements are met; never taken away."""

    learner = models.ForeignKey(Learner, on_delete=models.CASCADE, related_name="completions")
    chapter = models.ForeignKey(Chapter, on_delete=models.PROTECT, related_name="completions")
    revision = models.ForeignKey(
        ChapterRevision, on_delete=models.PROTECT, related_name="completions", null=True
    )
    completed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["completed_at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["learner", "chapter"], name="courses_completion_once"),
        ]

    def __str__(self) -> str:
        return f"{self.chapter} completed"
