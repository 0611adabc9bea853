"""Serializers of workers, their devices and queues."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from grader import queries
from grader.models import WorkerNode


class GpuSerializer(serializers.Serializer[Any]):
    """An NVIDIA device of a worker, as the worker reported it last."""

    uuid = serializers.CharField()
    name = serializers.CharField()
    state = serializers.ChoiceField(
        choices=["unknown", "ready", "busy", "quarantined"],
        help_text="Quarantined while its probe fails; unknown until it was probed.",
    )
    reason = serializers.CharField(help_text="Why it is in quarantine; empty where it is not.")
    failures = serializers.IntegerField(help_text="Failed probes since the last good one.")
    retry_in_seconds = serializers.FloatField(help_text="Until the next probe, when reported.")
    compute_capability = serializers.CharField()
    driver = serializers.CharField(help_text="Version of the kernel module.")
    cuda = serializers.CharField(help_text="Version of the CUDA runtime.")
    cuda_of_driver = serializers.CharField(help_text="Newest CUDA that the driver can serve.")
    cupy = serializers.CharField()
    memory_megabytes = serializers.IntegerField(allow_null=True)
    free_megabytes = serializers.IntegerField(allow_null=True)
    copy_gigabytes_per_second = serializers.FloatField(
        allow_null=True, help_text="Of a copy within the device, reading and writing counted."
    )
    temperature_celsius = serializers.IntegerField(allow_null=True)
    sm_clock_megahertz = serializers.IntegerField(allow_null=True)
    memory_clock_megahertz = serializers.IntegerField(allow_null=True)


class WorkerSerializer(serializers.ModelSerializer[WorkerNode]):
    """A node that grades, as it reported itself last."""

    limits = serializers.DictField(
        child=serializers.FloatField(),
        help_text="Those of every run, whatever the exercise, by names that end in their units; "
        "empty where the worker reported none.",
    )
    gpus = GpuSerializer(many=True)
    is_alive = serializers.SerializerMethodField()

    class Meta:
        model = WorkerNode
        fields = (
            "name",
            "queue",
            "isolation",
            "python",
            "numpy",
            "platform",
            "limits",
            "devices",
            "gpus",
            "tracks",
            "first_seen_at",
            "last_seen_at",
            "is_alive",
        )
        read_only_fields = fields

    def get_is_alive(self, node: WorkerNode) -> bool:
        return queries.is_alive(node)


class QueueSerializer(serializers.Serializer[Any]):
    """How much waits on a queue, and how much its workers have."""

    name = serializers.CharField()
    queued = serializers.IntegerField()
    running = serializers.IntegerField()
    unsent = serializers.IntegerField()


class WorkersSerializer(serializers.Serializer[Any]):
    """The nodes and their queues."""

    nodes = WorkerSerializer(many=True)
    queues = QueueSerializer(many=True)
