"""What each worker last said of itself."""

from __future__ import annotations

from django.db import models


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
