"""The parts of a chapter: formulas with their symbols, derivation steps, mechanism, listings."""

from __future__ import annotations

from django.db import models
from simple_history.models import HistoricalRecords

from .course import Chapter
from .validators import validate_filename, validate_key


class Formula(models.Model):
    chapter = models.ForeignKey(Chapter, on_delete=models.CASCADE, related_name="formulas")
    key = models.CharField(max_length=80, validators=[validate_key])
    title = models.CharField(max_length=200)
    tex = models.TextField(verbose_name="TeX", help_text="Bare TeX, without dollar signs.")
    numpy = models.TextField(blank=True, verbose_name="NumPy", help_text="The same as NumPy code.")
    spoken = models.TextField(
        blank=True, help_text="How the formula is read aloud, for screen readers."
    )
    note = models.TextField(blank=True)
    position = models.PositiveIntegerField(default=0)

    history = HistoricalRecords()

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["chapter", "key"], name="courses_formula_key_once"),
        ]

    def __str__(self) -> str:
        return self.title


class FormulaSymbol(models.Model):
    formula = models.ForeignKey(Formula, on_delete=models.CASCADE, related_name="symbols")
    tex = models.CharField(max_length=200, verbose_name="TeX")
    name = models.CharField(max_length=200)
    shape = models.CharField(max_length=100, blank=True, help_text="For example (N, D) or scalar.")
    position = models.PositiveIntegerField(default=0)

    history = HistoricalRecords()

    class Meta:
        ordering = ["position", "id"]

    def __str__(self) -> str:
        return self.name


class DerivationStep(models.Model):
    """One step; `formula` and `line` are the keys of the formula and the code line it matches."""

    chapter = models.ForeignKey(Chapter, on_delete=models.CASCADE, related_name="steps")
    key = models.CharField(max_length=80, validators=[validate_key])
    title = models.CharField(max_length=200)
    tex = models.TextField(verbose_name="TeX", help_text="Bare TeX, without dollar signs.")
    reason = models.TextField(blank=True, help_text="Why the step holds: because ...")
    formula = models.CharField(
        max_length=80, blank=True, help_text="Key of a formula of this chapter, or empty."
    )
    line = models.CharField(
        max_length=80, blank=True, help_text="Key of a named line of a listing, or empty."
    )
    position = models.PositiveIntegerField(default=0)

    history = HistoricalRecords()

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["chapter", "key"], name="courses_step_key_once"),
        ]

    def __str__(self) -> str:
        return self.title


class MechanismStep(models.Model):
    chapter = models.ForeignKey(Chapter, on_delete=models.CASCADE, related_name="mechanism")
    key = models.CharField(max_length=80, validators=[validate_key])
    title = models.CharField(max_length=200)
    body = models.TextField()
    position = models.PositiveIntegerField(default=0)

    history = HistoricalRecords()

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["chapter", "key"], name="courses_mechanism_key_once"),
        ]

    def __str__(self) -> str:
        return self.title


class Listing(models.Model):
    """A program, its output, and its named lines `[{"key": str, "line": int from 1}, ...]`."""

    chapter = models.ForeignKey(Chapter, on_delete=models.CASCADE, related_name="listings")
    filename = models.CharField(max_length=100, validators=[validate_filename])
    language = models.CharField(max_length=40, default="python")
    title = models.CharField(max_length=200)
    code = models.TextField()
    output = models.TextField(blank=True, help_text="What the program printed when it was run.")
    lines = models.JSONField(default=list, blank=True, verbose_name="named lines")
    position = models.PositiveIntegerField(default=0)

    history = HistoricalRecords()

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["chapter", "filename"], name="courses_listing_filename_once"
            ),
        ]

    def __str__(self) -> str:
        return self.filename
