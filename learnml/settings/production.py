"""Production: everything secret comes from the environment, and HTTPS is assumed."""

from __future__ import annotations

from learnml.environment import required

from .base import *  # noqa: F403
from .base import REST_FRAMEWORK, read

SECRET_KEY = required("LEARNML_SECRET_KEY")
DEMO_ACCOUNTS_ALLOWED = False
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
SECURE_SSL_REDIRECT = read("LEARNML_SSL_REDIRECT", True)
SECURE_HSTS_SECONDS = read("LEARNML_HSTS_SECONDS", 31_536_000)
# Only the operator knows whether all subdomains support HTTPS; Django's checks would insist.
SECURE_HSTS_INCLUDE_SUBDOMAINS = read("LEARNML_HSTS_SUBDOMAINS", False)
SECURE_HSTS_PRELOAD = read("LEARNML_HSTS_PRELOAD", False)
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# Rate limits see the learner's address, not that of the TLS proxy in front.
_proxies = read("LEARNML_PROXIES", 1)
ALLAUTH_TRUSTED_PROXY_COUNT = _proxies
REQUEST_ID_FROM_PROXY = _proxies > 0
REST_FRAMEWORK = {**REST_FRAMEWORK, "NUM_PROXIES": _proxies}
EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
EMAIL_HOST = read("LEARNML_EMAIL_HOST", "localhost")
EMAIL_PORT = read("LEARNML_EMAIL_PORT", 25)
EMAIL_HOST_USER = read("LEARNML_EMAIL_USER", "")
EMAIL_HOST_PASSWORD = read("LEARNML_EMAIL_PASSWORD", "")
_security = read("LEARNML_EMAIL_SECURITY", "none")
EMAIL_USE_TLS = _security == "starttls"
EMAIL_USE_SSL = _security == "tls"
# Short: somebody is waiting for the page.
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = read("LEARNML_EMAIL_FROM", "learnml@localhost")
