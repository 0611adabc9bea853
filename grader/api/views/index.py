"""The API's root: links to its parts."""

from __future__ import annotations

from typing import Any

from django.urls import resolve, reverse
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
    methods = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="Which methods each of them takes: `runs` takes POST alone.",
    )


class IndexView(PublicApiView):
    @extend_schema(
        operation_id="index",
        summary="Where everything is",
        responses={200: IndexSerializer, **problems()},
        tags=["index"],
    )
    def get(self, request: Request) -> Response:
        paths = {name: reverse(f"api:{name}") for name in PLACES}
        links: dict[str, Any] = {
            name: request.build_absolute_uri(path) for name, path in paths.items()
        }
        links["methods"] = {name: _methods(path) for name, path in paths.items()}
        return Response(IndexSerializer(links).data)


def _methods(path: str) -> list[str]:
    """Return the methods of the view at a path; a plain function only supports GET."""
    view = getattr(resolve(path).func, "view_class", None)
    if view is None:
        return ["GET"]
    return [name for name in ("GET", "POST") if hasattr(view, name.lower())]
