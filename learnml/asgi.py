"""ASGI entry point, for servers that want one; `./run` uses WSGI."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "learnml.settings.local")
application = get_asgi_application()
