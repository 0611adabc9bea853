"""The identity of a course or chapter: an id that never changes, and its former addresses."""

from __future__ import annotations

import uuid
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models, transaction

from .validators import validate_key

TAKEN = (
    "The address “{slug}” leads to “{title}”, which had it before. Choose another one, or delete "
    "that old address first."
)

# Each kind has a table of its own for them.
OLD = "old_slugs__slug"


class SlugTakenError(ValueError):
    """A slug under which readers still look for something else."""


class Addressed(models.Model):
    """Has a slug that may change. Former slugs redirect here until somebody deletes them.

    `uid` is the id in its file: an import finds the row by it, not by the slug.
    """

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    # Unique over all courses: exercises and the REST API name a chapter by its slug alone.
    slug = models.CharField(max_length=100, unique=True, validators=[validate_key])

    class Meta:
        abstract = True

    @classmethod
    def find(cls, slug: str) -> Any:
        """Return the row that has this slug, or had it last; None if none did."""
        named = cls._default_manager.filter(slug=slug).first()
        return named or cls._default_manager.filter(**{OLD: slug}).first()

    def clean(self) -> None:
        super().clean()
        if other := self._other_at(self.slug):
            raise ValidationError({"slug": TAKEN.format(slug=self.slug, title=other)})

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save, and keep the former slug.

        Raises:
            SlugTakenError: the slug is a former one of another row.
        """
        with transaction.atomic():
            if other := self._other_at(self.slug):
                raise SlugTakenError(TAKEN.format(slug=self.slug, title=other))
            before = None
            if not self._state.adding:
                rows = type(self)._default_manager.filter(pk=self.pk)
                before = rows.values_list("slug", flat=True).first()
            super().save(*args, **kwargs)
            old_slugs: Any = self.old_slugs  # type: ignore[attr-defined]
            if before is not None and before != self.slug:
                old_slugs.filter(slug=self.slug).delete()
                old_slugs.create(slug=before)

    def _other_at(self, slug: str) -> Any:
        others = type(self)._default_manager.exclude(pk=self.pk)
        return others.filter(**{OLD: slug}).first()


class OldSlug(models.Model):
    """A former slug; its address redirects to the row that had it."""

    slug = models.CharField(max_length=100, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug
