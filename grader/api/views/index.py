"""The API's first page: where everything is."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from grader.api.base import PublicApiView, problems

PLACES = (
    "chapters",
    "exercises",
    "submissions",
    "runs",
    "regrades",
    "tokens",
    "workers",
    "schema",
    "docs",
)


class IndexSerializer(serializers.Serializer[Any]):
    """Absolute addresses of the API's parts."""

    chapters = serializers.URLField()
    exercises = serializers.URLField()
    submissions = serializers.URLField()
    runs = serializers.URLField()
    regrades = serializers.URLField()
    tokens = serializers.URLField()
    workers = serializers.URLField()
    schema = serializers.URLField()
    docs = serializers.URLField()


class IndexView(PublicApiView):
    @extend_schema(
        operation_id="index",
        summary="Where everything is",
        responses={200: IndexSerializer, **problems()},
        tags=["index"],
    )
    def get(self, request: Request) -> Response:
        links = {name: request.build_absolute_uri(reverse(f"api:{name}")) for name in PLACES}
        return Response(IndexSerializer(links).data)
