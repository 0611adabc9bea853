"""Tests: fast hashing, local-memory cache, no queue; tests that need real services start them."""

from __future__ import annotations

import tempfile
from pathlib import Path

from .base import *  # noqa: F403
from .base import DATABASES, read

# Removed when the process ends.
_scratch = tempfile.TemporaryDirectory(prefix="learnml-tests-")
SCRATCH = Path(_scratch.name)
(SCRATCH / "static").mkdir()

SECRET_KEY = "tests-only-not-a-secret"  # noqa: S105
LOCAL_WORKER_KEY = f"local.{'0' * 64}"
DEMO_ACCOUNTS_ALLOWED = True
ALLOWED_HOSTS = ["*"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
STATIC_ROOT = str(SCRATCH / "static")
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
ACCOUNT_RATE_LIMITS = False  # type: ignore[assignment]  # allauth's word for none
# All tests have one address.
ANSWERS_PER_MINUTE = 1_000_000
if not read("DATABASE_URL", ""):
    # One file per test process: threads of a test see one database, as they do in production.
    DATABASES["default"]["TEST"] = {"NAME": str(SCRATCH / "test.sqlite3")}
