"""The least Django can do for a page: one view, a template of 30 kB, no middleware, no database.

`gunicorn bench.bare`
"""

from __future__ import annotations

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

PARAGRAPH = "<p>What a page says takes some room.</p>\n"
PAGE = "<!doctype html><title>{{ name }}</title>\n" + PARAGRAPH * (30_000 // len(PARAGRAPH))

settings.configure(
    SECRET_KEY="bench-only",  # noqa: S106
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    MIDDLEWARE=[],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "OPTIONS": {
                "loaders": [
                    (
                        "django.template.loaders.cached.Loader",
                        [("django.template.loaders.locmem.Loader", {"page.html": PAGE})],
                    )
                ]
            },
        }
    ],
)


def view(request: HttpRequest) -> HttpResponse:
    return render(request, "page.html", {"name": "reader"})


urlpatterns = [path("", view)]
application = get_wsgi_application()
