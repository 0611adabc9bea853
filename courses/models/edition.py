"""The cache generation of the public pages; see `courses.pages.generation`."""

from __future__ import annotations

from django.db import models


class Edition(models.Model):
    """A single row. Its number grows whenever anything changes on a public page."""

    ONLY_ID = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY_ID)
    number = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(id=1), name="courses_edition_one_row"),
        ]

    def __str__(self) -> str:
        return f"Edition {self.number}"
