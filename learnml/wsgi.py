"""WSGI entry point for gunicorn: `gunicorn learnml.wsgi`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "learnml.settings.local")

WsgiApplication: TypeAlias = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class BelowPath:
    """Serve the site below a path, whether or not the proxy in front strips it.

    So probes, which ask the server itself, find `/healthz` where it is without a path.
    """

    def __init__(self, application: WsgiApplication, name: str) -> None:
        self.application, self.name = application, name

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path == self.name:
            # Cookies are set for the path.
            start_response("301 Moved Permanently", [("Location", f"{self.name}/")])
            return []
        if path.startswith(f"{self.name}/"):
            environ["PATH_INFO"] = path[len(self.name) :]
        environ["SCRIPT_NAME"] = self.name
        return self.application(environ, start_response)


application: WsgiApplication = get_wsgi_application()
if settings.FORCE_SCRIPT_NAME:
    application = BelowPath(application, settings.FORCE_SCRIPT_NAME)
