"""The API's description: the schema as a file, and the same as a page without any script."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.views import SpectacularAPIView
from rest_framework.permissions import AllowAny

from grader.api import schema


class SchemaView(SpectacularAPIView):
    permission_classes: Any = (AllowAny,)
    authentication_classes: Any = ()
    renderer_classes: Any = (OpenApiYamlRenderer, OpenApiJsonRenderer)


def docs(request: HttpRequest) -> HttpResponse:
    return render(request, "grader/api_docs.html", schema.readable(schema.generate()))
