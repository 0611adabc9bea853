"""The API's description: the schema as a file, and the same as a page without any script."""

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

from grader.api import schema


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


def docs(request: HttpRequest) -> HttpResponse:
    return render(request, "grader/api_docs.html", schema.readable(schema.generate()))
