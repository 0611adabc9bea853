"""The API's description: the schema as a file, and a page without scripts."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from drf_spectacular.renderers import (
    OpenApiJsonRenderer,
    OpenApiJsonRenderer2,
    OpenApiYamlRenderer,
    OpenApiYamlRenderer2,
)
from drf_spectacular.views import SpectacularAPIView
from rest_framework.permissions import AllowAny
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from grader.api import schema
from grader.api.base import check_query


class SchemaView(SpectacularAPIView):
    """The OpenAPI document, as YAML or JSON as the Accept header asks."""

    permission_classes: Any = (AllowAny,)
    authentication_classes: Any = ()
    renderer_classes: Any = (
        OpenApiYamlRenderer2,
        OpenApiJsonRenderer2,
        OpenApiYamlRenderer,
        OpenApiJsonRenderer,
    )

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        check_query(request, frozenset())

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        finished = super().finalize_response(request, response, *args, **kwargs)
        if response.exception:
            # Problem documents are JSON even where YAML was requested.
            finished.accepted_renderer = JSONRenderer()
        return finished


def docs(request: HttpRequest) -> HttpResponse:
    return render(request, "grader/api_docs.html", schema.page())
