"""Questions of a chapter's quiz, as authors edit them."""

from __future__ import annotations

from django.db import models
from simple_history.models import HistoricalRecords

from .course import Chapter
from .validators import validate_key


class Question(models.Model):
    class Kind(models.TextChoices):
        SINGLE = "single", "One right choice"
        MULTIPLE = "multiple", "Several right choices"
        NUMERIC = "numeric", "A number"

    chapter = models.ForeignKey(Chapter, on_delete=models.CASCADE, related_name="questions")
    key = models.CharField(max_length=80, validators=[validate_key])
    kind = models.CharField(max_length=20, choices=Kind)
    prompt = models.TextField()
    explanation = models.TextField(blank=True, help_text="Shown once the answer is right.")
    answer = models.CharField(
        max_length=100, blank=True, help_text="The right number, for a numeric question."
    )
    tolerance = models.CharField(
        max_length=40,
        blank=True,
        help_text="Right is |given - answer| <= tolerance * max(1, |answer|); numeric only.",
    )
    position = models.PositiveIntegerField(default=0)

    history = HistoricalRecords()

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["chapter", "key"], name="courses_question_key_once"),
            models.CheckConstraint(
                condition=models.Q(kind="numeric") & ~models.Q(answer="") & ~models.Q(tolerance="")
                | models.Q(kind__in=["single", "multiple"], answer="", tolerance=""),
                name="courses_question_kind_fields",
                violation_error_message=(
                    "A numeric question needs an answer and a tolerance; "
                    "the other kinds have neither, but choices."
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.key


class Choice(models.Model):
    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="choices")
    key = models.CharField(max_length=40, validators=[validate_key])
    text = models.TextField()
    correct = models.BooleanField(default=False)
    feedback = models.TextField(blank=True, help_text="Why it is right or wrong.")
    position = models.PositiveIntegerField(default=0)

    history = HistoricalRecords()

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["question", "key"], name="courses_choice_key_once"),
        ]

    def __str__(self) -> str:
        return self.key


class NumericHint(models.Model):
    """Feedback for one foreseen wrong value of a numeric question."""

    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="hints")
    value = models.CharField(max_length=100)
    feedback = models.TextField()
    position = models.PositiveIntegerField(default=0)

    history = HistoricalRecords()

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["question", "value"], name="courses_hint_value_once"),
        ]

    def __str__(self) -> str:
        return self.value
