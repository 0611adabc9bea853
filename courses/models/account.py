"""Lookup keys of account names, and what is kept of deleted accounts."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class AccountName(models.Model):
    """One for each account; `courses.accounts.names` updates it whenever the account is saved."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="account_name",
    )
    # A name has at most 150 characters, and one without its case up to three times as many.
    folded = models.CharField(max_length=450, db_index=True)
    look = models.CharField(max_length=64)
    folded_look = models.CharField(max_length=64)
    place = models.PositiveIntegerField(
        help_text="0; more for accounts from before, whose names look like an earlier one's."
    )

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["look", "place"], name="courses_one_name_of_a_look"),
            models.UniqueConstraint(
                fields=["folded_look", "place"], name="courses_one_name_of_a_folded_look"
            ),
        ]

    def __str__(self) -> str:
        return self.folded


class DeletedAccount(models.Model):
    """Marks a deleted account whose work is kept for a while, without its name."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="deleted_account",
    )
    kept_until = models.DateTimeField(db_index=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.user} until {self.kept_until:%Y-%m-%d}"
