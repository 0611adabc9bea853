"""State and verdict: the columns that submissions and second verdicts share."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from .states import NodeKind, Outcome, Phase, SubmissionState

NAMING_PATIENCE: Final = timedelta(seconds=60)
"""How long after a verdict the name of its mistake may still arrive. The search takes a second; a
worker that dies meanwhile never sends it.
"""


class Graded(models.Model):
    """A verdict of one kind of node, from queued to finished."""

    kind = models.CharField(
        max_length=16, choices=NodeKind.choices, default=NodeKind.FUNCTIONAL, editable=False
    )
    state = models.CharField(
        max_length=16, choices=SubmissionState.choices, default=SubmissionState.QUEUED
    )
    phase = models.CharField(max_length=16, choices=Phase.choices, blank=True)
    case = models.PositiveIntegerField(default=0)
    cases = models.PositiveIntegerField(default=0)

    outcome = models.CharField(  # NULL means "none yet", in the API too
        max_length=16, choices=Outcome.choices, null=True, blank=True
    )
    score = models.FloatField(
        null=True, blank=True, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)]
    )
    report = models.JSONField(default=dict, blank=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(
        default=1, help_text="Grows with each change that a page or the API shows: the ETag."
    )

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=NodeKind.values), name="%(app_label)s_%(class)s_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(state__in=SubmissionState.values),
                name="%(app_label)s_%(class)s_state_known",
            ),
            models.CheckConstraint(
                condition=(
                    # NULL IN (...) is neither true nor false, so that NULL is named.
                    Q(
                        state=SubmissionState.FINISHED,
                        outcome__isnull=False,
                        outcome__in=Outcome.values,
                        finished_at__isnull=False,
                    )
                    | (
                        ~Q(state=SubmissionState.FINISHED)
                        & Q(outcome__isnull=True, finished_at__isnull=True)
                    )
                ),
                name="%(app_label)s_%(class)s_finished_has_outcome",
            ),
            models.CheckConstraint(
                condition=(
                    Q(
                        outcome__isnull=False,
                        outcome__in=Outcome.scored(),
                        score__isnull=False,
                        score__gte=0.0,
                        score__lte=1.0,
                    )
                    | Q(outcome__in=[Outcome.FLAGGED, Outcome.NOT_GRADABLE], score__isnull=True)
                    | Q(outcome__isnull=True, score__isnull=True)
                ),
                name="%(app_label)s_%(class)s_score_fits_outcome",
            ),
        ]

    @property
    def is_final(self) -> bool:
        """Whether nothing more is expected, unless somebody asks for it."""
        return self.state in (SubmissionState.FINISHED, SubmissionState.REPLACED)

    @property
    def is_naming(self) -> bool:
        """Whether mistakes are still being named: outcome, score and findings are final."""
        report = self.report if isinstance(self.report, dict) else {}
        if report.get("naming") is not True or self.finished_at is None:
            return False
        return timezone.now() - self.finished_at < NAMING_PATIENCE
