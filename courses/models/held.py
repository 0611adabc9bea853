"""Forms sent after their author's session had ended, kept until they sign in again."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models


class HeldForm(models.Model):
    """One form as it was sent, for the account that had opened it and nobody else.

    `content` is the form's fields as compressed JSON. It is never applied without its author.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="held_forms"
    )
    path = models.CharField(max_length=300)
    content = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "id"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["user", "path"], name="courses_held_form_once"),
        ]
        indexes = [models.Index(fields=["created_at"], name="courses_held_form_age")]

    def __str__(self) -> str:
        return self.path
