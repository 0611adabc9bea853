"""Workers: their keys, the messages refused from them, and what each node last reported."""

from __future__ import annotations

from django.db import models

from .ids import new_salt


class Worker(models.Model):
    """A worker with a key. The key itself is not stored: see `grader.services.workers`."""

    name = models.CharField(max_length=64, unique=True)
    salt = models.CharField(
        max_length=64, default=new_salt, editable=False, help_text="Another one, another key."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(
        null=True, blank=True, help_text="From then on nothing that it says is taken."
    )

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class RefusalReason(models.TextChoices):
    NOT_SIGNED = "not_signed", "carries no signature"
    UNKNOWN_WORKER = "unknown_worker", "names a worker that is not registered"
    REVOKED_WORKER = "revoked_worker", "is of a worker whose key was revoked"
    WRONG_SIGNATURE = "wrong_signature", "is not signed with its worker's key"
    NOT_ITS_JOB = "not_its_job", "is about a job that another worker has"
    NOT_ITS_NODE = "not_its_node", "is about a node of another worker"


class RefusedMessage(models.Model):
    """How many messages on the queue `results` were refused, by worker and reason.

    Counted, not stored: whoever can write to the queue could fill the database otherwise. Messages
    in the name of unknown workers are counted together, without a name.
    """

    worker_name = models.CharField(max_length=64, blank=True)
    reason = models.CharField(max_length=32, choices=RefusalReason.choices)
    count = models.PositiveBigIntegerField(default=0)
    last_task = models.CharField(max_length=100, blank=True)
    first_at = models.DateTimeField(auto_now_add=True)
    last_at = models.DateTimeField()

    class Meta:
        ordering = ("-last_at",)
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(
                fields=["worker_name", "reason"], name="grader_refused_message_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.count} from {self.worker_name or 'nobody known'}: {self.reason}"


class WorkerNode(models.Model):
    name = models.CharField(max_length=200, unique=True)
    worker = models.ForeignKey(
        "grader.Worker",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="nodes",
        help_text="Who signs its reports.",
    )
    queue = models.CharField(max_length=200)
    isolation = models.CharField(
        max_length=200, help_text="The sandbox level the node's probe found."
    )
    python = models.CharField(max_length=200)
    numpy = models.CharField(max_length=200)
    platform = models.CharField(max_length=200)
    limits = models.JSONField(
        default=dict, help_text="Those of every run, by names that end in their units."
    )
    devices = models.JSONField(default=list)
    gpus = models.JSONField(default=list, help_text="NVIDIA devices, as `protocol.GpuReport`.")
    tracks = models.JSONField(default=list)
    first_seen_at = models.DateTimeField(auto_now_add=True)
    last_seen_at = models.DateTimeField()

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name
