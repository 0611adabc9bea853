"""The audit log: who did what, when, to what, and from where. Entries are never changed."""

from __future__ import annotations

from typing import Any, NoReturn

from django.conf import settings
from django.db import models


class AuditAction(models.TextChoices):
    SUBMISSION_RESUBMITTED = "submission.resubmitted", "sent a submission again"
    SUBMISSION_DECIDED = "submission.decided", "decided on a submission held for review"
    OVERRIDE_SET = "override.set", "gave a submission another score"
    OVERRIDE_REMOVED = "override.removed", "took another score back"
    REGRADE_STARTED = "regrade.started", "started a regrade as a dry run"
    REGRADE_COMMITTED = "regrade.committed", "committed a regrade"
    REGRADE_UNDONE = "regrade.undone", "undid a regrade"
    SECOND_ASKED = "second_verdict.asked", "asked for a second verdict again"
    EXTENSION_GIVEN = "extension.given", "gave a learner more time"
    EXTENSION_REMOVED = "extension.removed", "took more time back"
    EXERCISE_CHANGED = "exercise.changed", "changed an exercise"
    EXERCISE_PUBLISHED = "exercise.published", "had an exercise published"
    TOKEN_CREATED = "token.created", "made an API token"
    TOKEN_REVOKED = "token.revoked", "revoked an API token"
    SIGNED_IN = "account.signed_in", "signed in"
    SIGN_IN_FAILED = "account.sign_in_failed", "failed to sign in"
    ROLES_CHANGED = "account.roles_changed", "changed what an account may do"
    ROLE_CHANGED = "account.role_changed", "changed what a group of accounts may do"
    ACCOUNT_RENAMED = "account.renamed", "gave an account another name"
    ACCOUNT_DELETED = "account.deleted", "deleted an account"


ABOUT_ACCOUNTS = "account."
"""What the actions on accounts begin with."""


class Origin(models.TextChoices):
    PAGE = "page", "a page"
    REST = "rest", "the REST API"
    SERVER = "server", "the server: a command or a task"


class AuditEntry(models.Model):
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="audit_entries",
    )
    actor_name = models.CharField(
        max_length=150,
        blank=True,
        help_text="The user name then, for when the account is gone; empty for nobody's account.",
    )
    action = models.CharField(max_length=40, choices=AuditAction.choices)
    target = models.CharField(max_length=200, help_text="Kind and public id, as in submission:abc.")
    before = models.JSONField(
        null=True,
        blank=True,
        help_text="What was changed, as it was; null where nothing was.",
    )
    after = models.JSONField(
        null=True, blank=True, help_text="The same as it is since; null where it is gone."
    )
    detail = models.JSONField(
        default=dict, blank=True, help_text="What else belongs to the act: a reason, numbers."
    )
    origin = models.CharField(
        max_length=10,
        choices=Origin.choices,
        blank=True,
        help_text="Where it came from; empty in entries of former releases.",
    )
    token_name = models.CharField(
        max_length=100, blank=True, help_text="The name of the API token that it came with."
    )
    request_id = models.CharField(
        max_length=64,
        blank=True,
        help_text="Of the request, as in the log and the header X-Request-ID.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "audit entries"
        ordering = ("-created_at", "-id")
        default_permissions = ("view",)
        indexes = [
            models.Index(fields=["target"], name="grader_audit_target"),
            # Each sign-in makes an entry, and the admin shows the newest.
            models.Index(fields=["-created_at", "-id"], name="grader_audit_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.actor_name or 'nobody'} {self.get_action_display()}: {self.target}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise TypeError("An audit entry cannot be changed.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("An audit entry cannot be deleted.")
