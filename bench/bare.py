"""The least Django can do: one view, no middleware. `gunicorn bench.bare`."""

from __future__ import annotations

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path

settings.configure(
    SECRET_KEY="bench-only",  # noqa: S106
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    MIDDLEWARE=[],
)


def view(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok")


urlpatterns = [path("", view)]
application = get_wsgi_application()
