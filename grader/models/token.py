"""Tokens for the REST API. Only a digest is kept: the token itself is shown once, when made."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from .ids import new_public_id


class Scope(models.TextChoices):
    READ = "read", "read what the owner's role may read"
    SUBMIT = "submit", "submit sources and answers"
    GRADE = "grade", "decide on submissions held for review and see the workers"


class ApiToken(models.Model):
    """A named bearer token with scopes and an expiry."""

    public_id = models.CharField(
        "id", max_length=16, unique=True, default=new_public_id, editable=False
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    hint = models.CharField(
        max_length=12, editable=False, help_text="The token's first characters, to tell it apart."
    )
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "API token"
        ordering = ("-created_at", "-id")
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(digest=""), name="grader_token_digest_not_empty"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}...)"
