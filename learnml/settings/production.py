"""Production: everything secret comes from the environment, and HTTPS is assumed."""

from __future__ import annotations

from .base import *  # noqa: F403
from .base import REST_FRAMEWORK, env

SECRET_KEY = env.str("LEARNML_SECRET_KEY")
DEMO_ACCOUNTS_ALLOWED = False
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
SECURE_SSL_REDIRECT = env.bool("LEARNML_SSL_REDIRECT", default=True)
SECURE_HSTS_SECONDS = env.int("LEARNML_HSTS_SECONDS", default=31_536_000)
# Only the operator knows whether every subdomain speaks HTTPS; Django's checks would insist.
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.bool("LEARNML_HSTS_SUBDOMAINS", default=False)
SECURE_HSTS_PRELOAD = env.bool("LEARNML_HSTS_PRELOAD", default=False)
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# Rate limits see the learner's address, not that of the TLS proxy in front.
_proxies = env.int("LEARNML_PROXIES", default=1)
ALLAUTH_TRUSTED_PROXY_COUNT = _proxies
REST_FRAMEWORK = {**REST_FRAMEWORK, "NUM_PROXIES": _proxies}
EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
EMAIL_HOST = env.str("LEARNML_EMAIL_HOST", default="localhost")
EMAIL_PORT = env.int("LEARNML_EMAIL_PORT", default=25)
DEFAULT_FROM_EMAIL = env.str("LEARNML_EMAIL_FROM", default="learnml@localhost")
