"""The verdict of the kind of node that does not count for the lesson."""

from __future__ import annotations

from django.db import models

from .graded import Graded


class SecondVerdict(Graded):
    """Shown beside the submission's own: a GPU's, or a processor's where a device is required.

    It has a life of its own. It may come long after the other, or never: nothing waits for it.
    """

    submission = models.OneToOneField(
        "grader.Submission", on_delete=models.CASCADE, related_name="second"
    )

    class Meta(Graded.Meta):
        default_permissions = ("view",)

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.get_state_display()}"
