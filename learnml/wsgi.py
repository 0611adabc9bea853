"""WSGI entry point for gunicorn: `gunicorn learnml.wsgi`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "learnml.settings.local")
application = get_wsgi_application()
