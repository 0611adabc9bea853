"""Figures of a chapter: kind, parameters and position."""

from __future__ import annotations

from django.db import models
from simple_history.models import HistoricalRecords

from .course import Chapter
from .validators import validate_key


class Figure(models.Model):
    """One figure. Its kind computes and draws it from `parameters` (see `courses.figures`).

    `part` is the anchor that it follows: a part of the chapter, or one item in it. `links` are the
    anchors that light up together with it. Both are written as in links, without the hash sign.
    """

    chapter = models.ForeignKey(Chapter, on_delete=models.CASCADE, related_name="figures")
    key = models.CharField(max_length=80, validators=[validate_key])
    kind = models.CharField(max_length=80, validators=[validate_key])
    title = models.CharField(max_length=200)
    caption = models.TextField(blank=True, help_text="What the figure shows.")
    part = models.CharField(
        max_length=100,
        default="intuition",
        validators=[validate_key],
        help_text=(
            "Where it stands: at the end of intuition, formulas, derivation, mechanism or code; or "
            "after a place such as formula-rmsnorm, step-result or heading-name-of-a-heading."
        ),
    )
    links = models.JSONField(
        default=list,
        blank=True,
        help_text='What lights up with it, as a JSON list: ["formula-rmsnorm", "step-result"].',
    )
    parameters = models.JSONField(
        default=dict, blank=True, help_text="What its kind computes from, as a JSON object."
    )
    position = models.PositiveIntegerField(default=0)

    history = HistoricalRecords()

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["chapter", "key"], name="courses_figure_key_once"),
        ]

    def __str__(self) -> str:
        return self.title
