"""Jobs that must reach the broker, written in the transaction that made them necessary."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


class OutboxMessage(models.Model):
    """The intent to put one attempt on its queue. The message's body is built when it is sent."""

    attempt = models.OneToOneField(
        "grader.GradingAttempt", on_delete=models.CASCADE, related_name="outbox"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    sends = models.PositiveIntegerField(default=0, help_text="How often it reached the broker.")
    failures = models.PositiveIntegerField(default=0)
    last_error = models.CharField(max_length=500, blank=True)
    request_id = models.CharField(
        max_length=64, blank=True, help_text="Of the request that led to it, for the log."
    )
    locked_until = models.DateTimeField(
        null=True, blank=True, help_text="A sender has it until then; two never send at once."
    )

    class Meta:
        ordering = ("id",)
        indexes = [
            models.Index(
                fields=["id"], name="grader_outbox_unsent", condition=Q(sent_at__isnull=True)
            ),
        ]

    def __str__(self) -> str:
        return f"message for attempt {self.attempt_id}: {'sent' if self.sent_at else 'waiting'}"
