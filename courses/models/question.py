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
        ORDERING = "ordering", "Steps to put in order"
        MATCHING = "matching", "Pairs to match"
        OUTPUT = "output", "What a program prints"

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
    language = models.CharField(
        max_length=40, blank=True, help_text="Language of the program, such as python."
    )
    code = models.TextField(blank=True, help_text="The program whose output is asked for.")
    output = models.TextField(
        blank=True,
        help_text="What the program prints. Spaces at the ends of lines do not count.",
    )
    position = models.PositiveIntegerField(default=0)

    history = HistoricalRecords()

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["chapter", "key"], name="courses_question_key_once"),
            models.CheckConstraint(
                condition=(
                    models.Q(kind="numeric", language="", code="", output="")
                    & ~models.Q(answer="")
                    & ~models.Q(tolerance="")
                )
                | (
                    models.Q(kind="output", answer="", tolerance="")
                    & ~models.Q(language="")
                    & ~models.Q(code="")
                    & ~models.Q(output="")
                )
                | models.Q(
                    kind__in=["single", "multiple", "ordering", "matching"],
                    answer="",
                    tolerance="",
                    language="",
                    code="",
                    output="",
                ),
                name="courses_question_kind_fields",
                violation_error_message=(
                    "A numeric question needs an answer and a tolerance; "
                    "the other kinds have neither, but choices, steps, pairs, or a program with "
                    "its language and its output. Fill what the kind needs, and empty the rest."
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


class OrderingItem(models.Model):
    """One item of an ordering question; the positions are the right order."""

    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="items")
    key = models.CharField(max_length=40, validators=[validate_key])
    text = models.TextField()
    feedback = models.TextField(blank=True, help_text="Why it stands here; shown once it does.")
    hint = models.TextField(blank=True, help_text="Shown while it stands at a wrong place.")
    position = models.PositiveIntegerField(default=0)

    history = HistoricalRecords()

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["question", "key"], name="courses_item_key_once"),
        ]

    def __str__(self) -> str:
        return self.key


class MatchingPair(models.Model):
    """A matching pair of two sides; an empty left side makes the right side a distractor."""

    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="pairs")
    key = models.CharField(max_length=40, validators=[validate_key])
    left = models.TextField(
        blank=True, help_text="Leave empty for a right side that belongs to nothing."
    )
    right = models.TextField()
    feedback = models.TextField(blank=True, help_text="Why they belong together; shown then.")
    hint = models.TextField(blank=True, help_text="Shown while the left side has a wrong partner.")
    position = models.PositiveIntegerField(default=0)

    history = HistoricalRecords()

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["question", "key"], name="courses_pair_key_once"),
        ]

    def __str__(self) -> str:
        return self.key


class NumericHint(models.Model):
    """Feedback for an anticipated wrong answer: a number, or a program's output."""

    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="hints")
    value = models.TextField(max_length=500)
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
