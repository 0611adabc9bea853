"""The environment variables for operators, parsed strictly: errors name the variable.

Independent of Django, so that the supervisor can check all of them before anything starts. An empty
variable counts as unset.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from learnml.queue_socket import MAX_SOCKET_PATH_BYTES

LOCAL_SETTINGS = "learnml.settings.local"
PRODUCTION_SETTINGS = "learnml.settings.production"
POSTGRES_SCHEMES = ("postgres", "postgresql", "psql", "pgsql")
REDIS_SCHEMES = ("redis", "rediss", "redis+socket", "unix")
CACHE_SCHEMES = ("redis", "rediss", "unix")
TRUE_WORDS = ("1", "true", "yes", "on")
FALSE_WORDS = ("0", "false", "no", "off")
LOG_FORMATS = ("plain", "json")
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
MAX_SECONDS = 86_400.0
MIN_SECRET_KEY_CHARACTERS = 50
MIN_DIFFERENT_CHARACTERS = 5
PLACEHOLDERS = ("change", "secret", "insecure", "example", "tests-only", "django-insecure")
# First segments of the site's own URLs; a test compares them with the URL configuration.
OWN_PATHS = frozenset(
    {"accounts", "admin", "api", "courses", "dashboard", "exercises", "favicon.ico", "healthz"}
    | {"math", "readyz", "run", "runs", "search", "static", "submissions", "theme"}
)
_HOST = re.compile(r"\*|\.?[\w-]+(\.[\w-]+)*|\[[0-9A-Fa-f:.]+\]", re.ASCII)
_SCRIPT_NAME = re.compile(r"(/[A-Za-z0-9._~-]+)+")
_RATE = re.compile(r"[0-9]{1,9}/(s|sec|second|m|min|minute|h|hour|d|day)")

Parser: TypeAlias = Callable[[str], Any]


class BadSetting(Exception):
    """A variable cannot be used; the text names it and says what to do."""


class _Unusable(Exception):
    """The expected value, for a sentence that begins with the variable."""


def whole(least: int, most: int) -> Parser:
    def parse(text: str) -> int:
        if text.isascii() and text.isdigit() and least <= int(text[:12]) <= most:
            return int(text)
        raise _Unusable(f"a whole number from {least} to {most}")

    return parse


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and 1 <= int(text[:12]) <= 65535:
        return int(text)
    raise _Unusable("a port number")


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= MAX_SECONDS:
        raise _Unusable("a number of seconds above 0 and within a day")
    return value


def _flag(text: str) -> bool:
    word = text.lower()
    if word not in TRUE_WORDS + FALSE_WORDS:
        raise _Unusable("one of 1 (on) and 0 (off)")
    return word in TRUE_WORDS


def one_of(choices: Sequence[str], change: Callable[[str], str] = str) -> Parser:
    def parse(text: str) -> str:
        if change(text) not in choices:
            raise _Unusable(f"one of {', '.join(choices)}")
        return change(text)

    return parse


def _rate(text: str) -> str:
    if not _RATE.fullmatch(text):
        raise _Unusable("a rate such as 300/min (per s, min, hour or day)")
    return text


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _hosts(text: str) -> list[str]:
    hosts = _names(text)
    if not hosts or not all(map(_HOST.fullmatch, hosts)):
        raise _Unusable("a list of host names such as learn.example.org, without https:// or port")
    return hosts


def _origins(text: str) -> list[str]:
    origins = _names(text)
    if not all(re.fullmatch(r"https?://[^/\s]+", origin) for origin in origins):
        raise _Unusable("a list of origins such as https://learn.example.org")
    return origins


def _script_name(text: str) -> str:
    name = text.rstrip("/")
    # Not one of the site's own paths: /admin/admin/ would be ambiguous.
    if not _SCRIPT_NAME.fullmatch(name) or name.split("/")[1] in OWN_PATHS:
        raise _Unusable(
            "a path such as /learn, with a first part that no address of the site begins with"
        )
    return name


def _socket(text: str) -> str:
    if len(os.fsencode(text)) > MAX_SOCKET_PATH_BYTES:
        raise _Unusable(f"a path of at most {MAX_SOCKET_PATH_BYTES} bytes, as sockets need")
    return text


def _database_url(text: str) -> str:
    if not _is_address(text, POSTGRES_SCHEMES) or len(urlsplit(text).path) < 2:
        raise _Unusable("the address of a database such as postgres://user:password@host:5432/name")
    return text


def _redis_url(text: str) -> str:
    if not _is_address(text, REDIS_SCHEMES):
        raise _Unusable("the address of a Redis or Valkey server such as redis://localhost:6379/0")
    return text


def _cache_url(text: str) -> str:
    if not _is_address(text, CACHE_SCHEMES):
        raise _Unusable("the address of a Redis or Valkey server such as redis://localhost:6380/0")
    return text


def _is_address(text: str, schemes: Sequence[str]) -> bool:
    try:
        address = urlsplit(text)
        # Reading the port checks it.
        return address.scheme in schemes and (
            (address.port or 1) > 0 and bool(address.hostname or len(address.path) > 1)
        )
    except ValueError:
        return False


PARSERS: dict[str, Parser] = {
    "PORT": _port,
    "SCRIPT_NAME": _script_name,
    "LEARNML_SCRIPT_NAME": _script_name,
    "DATABASE_URL": _database_url,
    "REDIS_URL": _redis_url,
    "LEARNML_CACHE_URL": _cache_url,
    "LEARNML_QUEUE_SOCKET": _socket,
    "LEARNML_FORMER_FILES_DAYS": whole(0, 3650),
    "LEARNML_EMAIL_VERIFICATION": one_of(("none", "optional", "mandatory")),
    "LEARNML_SUBMISSIONS_PER_MINUTE": whole(1, 1_000_000),
    "LEARNML_MAX_OPEN_SUBMISSIONS": whole(1, 1_000_000),
    "LEARNML_JOBS_ON_QUEUE_PER_LEARNER": whole(1, 1_000),
    "LEARNML_CUPY_REQUIRES_DEVICE": _flag,
    "LEARNML_HEARTBEAT_SECONDS": _seconds,
    "LEARNML_HEARTBEAT_TIMEOUT_SECONDS": _seconds,
    "LEARNML_SWEEP_INTERVAL_SECONDS": _seconds,
    "LEARNML_OUTBOX_INTERVAL_SECONDS": _seconds,
    "LEARNML_RESEND_MARGIN_SECONDS": _seconds,
    "LEARNML_SIGN_UPS_PER_FIVE_MINUTES": whole(1, 1_000_000),
    "LEARNML_SIGN_INS_PER_FIVE_MINUTES": whole(1, 1_000_000),
    "LEARNML_WRONG_PASSWORDS_PER_FIVE_MINUTES": whole(1, 1_000_000),
    "LEARNML_PASSWORD_RESETS_PER_FIVE_MINUTES": whole(1, 1_000_000),
    "LEARNML_SEARCHES_PER_MINUTE": whole(1, 1_000_000),
    "LEARNML_ANSWERS_PER_MINUTE": whole(1, 1_000_000),
    "LEARNML_RUNS_PER_MINUTE": whole(1, 1_000_000),
    "LEARNML_RUN_WAIT_SECONDS": _seconds,
    "LEARNML_RUN_SILENCE_SECONDS": _seconds,
    "LEARNML_RUN_RETENTION_HOURS": whole(1, 100_000),
    "LEARNML_DELETED_WORK_DAYS": whole(0, 36_500),
    "LEARNML_TASK_TIME_LIMIT_SECONDS": _seconds,
    "LEARNML_VISIBILITY_TIMEOUT_SECONDS": _seconds,
    "LEARNML_NODE_REPORT_SECONDS": _seconds,
    "LEARNML_API_RATE_ANONYMOUS": _rate,
    "LEARNML_API_RATE_USER": _rate,
    "LEARNML_PROXIES": whole(0, 100),
    "LEARNML_WEB_WORKERS": whole(1, 1_000),
    "LEARNML_WEB_THREADS": whole(1, 1_000),
    "LEARNML_REQUEST_COMPUTE_LIMIT_SECONDS": _seconds,
    "LEARNML_LOG_LEVEL": one_of(LOG_LEVELS, str.upper),
    "LEARNML_WEB_LOG_LEVEL": one_of([level.lower() for level in LOG_LEVELS], str.lower),
    "LEARNML_LOG_FORMAT": one_of(LOG_FORMATS, str.lower),
    "LEARNML_ACCESS_LOG": _flag,
    "LEARNML_ALLOWED_HOSTS": _hosts,
    "LEARNML_TRUSTED_ORIGINS": _origins,
    "LEARNML_SSL_REDIRECT": _flag,
    "LEARNML_HSTS_SECONDS": whole(0, 1_000_000_000),
    "LEARNML_HSTS_SUBDOMAINS": _flag,
    "LEARNML_HSTS_PRELOAD": _flag,
    "LEARNML_EMAIL_PORT": _port,
    "LEARNML_EMAIL_SECURITY": one_of(("none", "starttls", "tls"), str.lower),
}
REQUIRED_IN_PRODUCTION = {
    "LEARNML_SECRET_KEY": "50 or more random characters, as made by "
    "python3 -c 'import secrets; print(secrets.token_urlsafe(50))'",
    "LEARNML_ALLOWED_HOSTS": "the site's host names, separated by commas",
}


def read(name: str, default: Any, environ: Mapping[str, str] | None = None) -> Any:
    """Return a variable's value as its parser makes it, the default where it is not set.

    Raises:
        BadSetting: it is set to something else.
    """
    text = (os.environ if environ is None else environ).get(name, "")
    if not text:
        return default
    try:
        return PARSERS[name](text) if name in PARSERS else text
    except _Unusable as wanted:
        raise BadSetting(_sentence(name, text, str(wanted))) from None


def _sentence(name: str, text: str, wanted: str) -> str:
    # An address may hold a password, and what is no address may be one that was mistyped.
    shown = name if name.endswith("_URL") else f"{name}={text}"
    if name == "PORT":
        return f"{shown} is not {wanted}. Use a number from 1 to 65535, for example PORT=8001 ./run"
    return f"{shown} is not {wanted}. Set {name} to one, or leave it out for the default."


def script_name(environ: Mapping[str, str] | None = None) -> str:
    """Return the path of the site on its host, empty at the root.

    Raises:
        BadSetting: it cannot be one.
    """
    return str(read("LEARNML_SCRIPT_NAME", "", environ) or read("SCRIPT_NAME", "", environ))


def required(name: str, environ: Mapping[str, str] | None = None) -> str:
    """Return a variable that production cannot do without.

    Raises:
        BadSetting: it is not set.
    """
    value = (os.environ if environ is None else environ).get(name, "")
    if not value:
        raise BadSetting(f"Production needs {name}. Set it to {REQUIRED_IN_PRODUCTION[name]}.")
    return value


def check_all(environ: Mapping[str, str] | None = None) -> None:
    """Look at every variable before something is started with them.

    Raises:
        BadSetting: the first one that cannot be used.
    """
    env = os.environ if environ is None else environ
    check_settings_module(env)
    for name in PARSERS:
        read(name, None, env)
    if env.get("DJANGO_SETTINGS_MODULE") == PRODUCTION_SETTINGS:
        for name in REQUIRED_IN_PRODUCTION:
            required(name, env)
        if is_weak_key(env["LEARNML_SECRET_KEY"]):
            raise BadSetting(
                "LEARNML_SECRET_KEY is short or a placeholder; sessions could be forged. Set it to "
                f"{REQUIRED_IN_PRODUCTION['LEARNML_SECRET_KEY']}."
            )


def is_weak_key(key: str) -> bool:
    """Tell whether a secret key is too short, repeats itself, or was left as it was written."""
    return (
        len(key) < MIN_SECRET_KEY_CHARACTERS
        or len(set(key)) < MIN_DIFFERENT_CHARACTERS
        or key.lower().startswith(PLACEHOLDERS)
    )


def check_settings_module(environ: Mapping[str, str] | None = None) -> None:
    """Check that the module of settings exists.

    Raises:
        BadSetting: it does not.
    """
    name = (os.environ if environ is None else environ).get("DJANGO_SETTINGS_MODULE", "")
    try:
        exists = not name or importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        exists = False
    if not exists:
        raise BadSetting(
            f"DJANGO_SETTINGS_MODULE={name} is no module of settings. Use {LOCAL_SETTINGS} or "
            f"{PRODUCTION_SETTINGS}, or leave it out."
        )
