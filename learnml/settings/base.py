"""Settings that hold everywhere. `local`, `production` and `test` import all of this and differ in
a few lines each. Everything that an operator may change comes from the environment.
"""

from __future__ import annotations

from pathlib import Path

import environ  # type: ignore[import-untyped]

from gpu_worker.logs import configuration
from gpu_worker.messages.queues import (
    QUEUE_GPU,
    hard_time_limit_seconds,
    visibility_timeout_seconds,
)
from learnml.accounts.rates import rates
from learnml.environment import read, script_name
from learnml.queue_socket import cache_socket_path, queue_socket_path

from .secret import load_worker_key

BASE_DIR = Path(__file__).resolve().parent.parent.parent
DATA_DIR = Path(read("LEARNML_DATA", str(BASE_DIR / "var"))).expanduser().resolve()

DEBUG = False
ALLOWED_HOSTS: list[str] = read("LEARNML_ALLOWED_HOSTS", [])
CSRF_TRUSTED_ORIGINS: list[str] = read("LEARNML_TRUSTED_ORIGINS", [])

INSTALLED_APPS = [
    "learnml.apps.LearnMLConfig",
    "learnml.apps.LearnMLAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "learnml.static_files.LearnMLStaticFilesConfig",
    "django.contrib.humanize",
    "adminsortable2",
    "simple_history",
    "allauth",
    "allauth.account",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "courses.apps.CoursesConfig",
    "grader.apps.GraderConfig",
]

MIDDLEWARE = [
    "learnml.middleware.request_ids.RequestIdMiddleware",
    "learnml.middleware.responses.HeadMiddleware",
    "learnml.middleware.responses.RetryAfterMiddleware",
    "learnml.health.HealthMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "learnml.middleware.response_cache.ResponseCacheMiddleware",
    # For pages, with padding against BREACH; static files are compressed beforehand.
    "learnml.middleware.responses.CompressionMiddleware",
    "learnml.middleware.security.ContentSecurityPolicyMiddleware",
    # After those above, whose headers its error page needs and which compute little.
    "learnml.middleware.compute_limit.ComputeLimitMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "learnml.middleware.same_origin.SameOriginMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "grader.origin.OriginMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "simple_history.middleware.HistoryRequestMiddleware",
    "learnml.middleware.request_size.RequestSizeMiddleware",
]

# The path of the site on its host, such as /learn; empty at the root. Cookies are limited to it.
FORCE_SCRIPT_NAME = script_name() or None
_root = f"{FORCE_SCRIPT_NAME or ''}/"
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = _root

ROOT_URLCONF = "learnml.urls"
WSGI_APPLICATION = "learnml.wsgi.application"
ASGI_APPLICATION = "learnml.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "learnml.context.site",
            ],
        },
    },
]

# --- database --------------------------------------------------------------------------------
_database_url = read("DATABASE_URL", "")
if _database_url:
    DATABASES = {"default": {**environ.Env.db_url_config(_database_url), "CONN_MAX_AGE": 60}}
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
else:
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": DATA_DIR / "db.sqlite3",
            "CONN_MAX_AGE": 60,
            "OPTIONS": {
                # Writers wait for each other instead of failing, and readers never wait.
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                # On disk at each commit: a save that was confirmed survives a power cut.
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
            },
        }
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- queue -----------------------------------------------------------------------------------
REDIS_URL = read("REDIS_URL", "")
QUEUE_SOCKET = read("LEARNML_QUEUE_SOCKET", "") or str(queue_socket_path(DATA_DIR))
BROKER_URL = REDIS_URL or f"redis+socket://{QUEUE_SOCKET}?virtual_host=0"
# Not the queue's server, which workers reach: it holds the counters of rate limits.
CACHE_URL = read("LEARNML_CACHE_URL", "")
CACHES = {
    "default": {
        "BACKEND": "learnml.cache.TolerantRedisCache",
        "LOCATION": CACHE_URL or f"unix://{cache_socket_path(DATA_DIR)}",
        "KEY_PREFIX": "learnml",
        # Incremented when the format of values changes.
        "VERSION": 2,
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},
    }
}

# --- accounts --------------------------------------------------------------------------------
AUTHENTICATION_BACKENDS = [
    "learnml.accounts.backend.AccountBackend",
    # Both former backends, for existing sessions: the first one refuses for them too.
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
ACCOUNT_ADAPTER = "learnml.accounts.adapter.AccountAdapter"
ACCOUNT_FORMS = {
    "signup": "learnml.accounts.forms.SignupForm",
    "reset_password": "learnml.accounts.forms.ResetPasswordForm",
    "change_password": "learnml.accounts.forms.ChangePasswordForm",
    "set_password": "learnml.accounts.forms.SetPasswordForm",
    "reset_password_from_key": "learnml.accounts.forms.ResetPasswordKeyForm",
}
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "courses:dashboard"
LOGOUT_REDIRECT_URL = "courses:home"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
# Names that seem to speak for the site. Accounts created on the server may have them.
ACCOUNT_USERNAME_BLACKLIST = [
    *("admin", "administrator", "learnml", "moderator", "operator", "root", "staff"),
    *("superuser", "support", "system"),
]
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = read("LEARNML_EMAIL_VERIFICATION", "none")
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[LearnML] "
ACCOUNT_PREVENT_ENUMERATION = "strict"
# Per address within five minutes: a class of 300 signs in at once, with a typo each. Limits per
# account are not settings: they are in learnml/accounts/rates.py.
WRONG_PASSWORDS_PER_FIVE_MINUTES = read("LEARNML_WRONG_PASSWORDS_PER_FIVE_MINUTES", 300)
ACCOUNT_RATE_LIMITS = rates(
    sign_ups=read("LEARNML_SIGN_UPS_PER_FIVE_MINUTES", 1000),
    sign_ins=read("LEARNML_SIGN_INS_PER_FIVE_MINUTES", 1000),
    wrong_passwords=WRONG_PASSWORDS_PER_FIVE_MINUTES,
    resets=read("LEARNML_PASSWORD_RESETS_PER_FIVE_MINUTES", 300),
)
# For the rate limits of signing in; see NUM_PROXIES below.
ALLAUTH_TRUSTED_PROXY_COUNT = read("LEARNML_PROXIES", 0)
# Whether the proxy in front sets X-Request-ID; without one anybody could.
REQUEST_ID_FROM_PROXY = read("LEARNML_PROXIES", 0) > 0
EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"

# --- language, time --------------------------------------------------------------------------
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

# --- static files ----------------------------------------------------------------------------
STATIC_URL = f"{_root}static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = read("LEARNML_STATIC_ROOT", str(DATA_DIR / "static"))
# How long files that an update replaced are kept for pages that are still open.
FORMER_FILES_DAYS = read("LEARNML_FORMER_FILES_DAYS", 14)
# Browsers may cache files of former releases forever too.
WHITENOISE_IMMUTABLE_FILE_TEST = r"\.[0-9a-f]{12}\.\w+$"
# Not for scripts of other sites.
WHITENOISE_ALLOW_ALL_ORIGINS = False
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "learnml.static_files.StaticFilesStorage"},
}

# --- security --------------------------------------------------------------------------------
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
X_FRAME_OPTIONS = "DENY"
# Same name and format as in Django 6; the middleware goes once 6.2 is required.
CSRF_FAILURE_VIEW = "learnml.errors.forged"
SECURE_CSP = {
    "default-src": ["'none'"],
    "script-src": ["'self'"],
    "style-src": ["'self'"],
    "img-src": ["'self'", "data:"],
    "font-src": ["'self'"],
    "connect-src": ["'self'"],
    "form-action": ["'self'"],
    "base-uri": ["'none'"],
    "frame-ancestors": ["'none'"],
}
# A request body above this is refused before it is parsed: sources are at most 64 KB.
MAX_BODY_BYTES = 1024 * 1024
# Except for forms of the admin, from its users: those of long chapters are larger. Above the limit
# for chapters, so that a form with too much can be shown again with its error.
MAX_ADMIN_BODY_BYTES = 16 * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_ADMIN_BODY_BYTES
# Three times the fields of the largest chapter allowed, with eleven for each part.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 30_000

# Processor time after which a request is ended. The slowest pages take a tenth of that.
REQUEST_COMPUTE_LIMIT_SECONDS = read("LEARNML_REQUEST_COMPUTE_LIMIT_SECONDS", 10.0)

# --- pages: limits for one address -------------------------------------------------------------
SEARCHES_PER_MINUTE = read("LEARNML_SEARCHES_PER_MINUTE", 600)
# For visitors too: the first answer creates a session and rows.
ANSWERS_PER_MINUTE = read("LEARNML_ANSWERS_PER_MINUTE", 600)

# --- REST API --------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "grader.api.authentication.ApiTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "grader.api.parsers.StrictJSONParser",
        "rest_framework.parsers.MultiPartParser",
    ],
    "DEFAULT_SCHEMA_CLASS": "grader.api.autoschema.ApiSchema",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "EXCEPTION_HANDLER": "grader.api.problems.exception_handler",
    "DEFAULT_VERSIONING_CLASS": None,
    "DEFAULT_THROTTLE_CLASSES": [
        "grader.api.throttles.AnonymousThrottle",
        "grader.api.throttles.UserThrottle",
    ],
    "DEFAULT_THROTTLE_RATES": {
        "anonymous": read("LEARNML_API_RATE_ANONYMOUS", "300/min"),
        "user": read("LEARNML_API_RATE_USER", "1200/min"),
    },
    # How many proxies set X-Forwarded-For; with 0 the header, which anyone can send, is ignored.
    "NUM_PROXIES": read("LEARNML_PROXIES", 0),
    # The URL never selects the format of a response.
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "SERVERS": [{"url": FORCE_SCRIPT_NAME}] if FORCE_SCRIPT_NAME else [],
    "TITLE": "LearnML REST API",
    "VERSION": "1.0.0",
    "OAS_VERSION": "3.1.0",
    "DESCRIPTION": "Read the course, submit sources, and see verdicts. Errors are RFC 9457 problem "
    "documents. Make a token at /api/v1/tokens/ with user name and password. What a body or an "
    "address says and nothing reads is refused by its name. Times are given in UTC and taken with "
    "their zone. Long lists come in pages: follow `next`.",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "PATH_CONVERTER_OVERRIDES": {
        "publicid": {"type": "string", "pattern": "^[a-hjkmnp-z2-9]{16}$"},
        "slug": {"type": "string", "pattern": "^[-a-zA-Z0-9_]+$"},
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "grader.api.completion.complete",
    ],
    "TAGS": [
        {"name": "index", "description": "Where everything is."},
        {"name": "chapters", "description": "What is published, and answering its questions."},
        {"name": "exercises", "description": "What may be submitted to, and its contract."},
        {"name": "submissions", "description": "What was submitted, and what became of it."},
        {"name": "runs", "description": "Running something without an attempt."},
        {"name": "regrades", "description": "Grading again: a dry run, then over, then back."},
        {"name": "tokens", "description": "Tokens of one's own, made with a password."},
        {"name": "workers", "description": "The nodes that grade, and their queues."},
    ],
    "ENUM_NAME_OVERRIDES": {
        "StateEnum": "grader.models.SubmissionState",
        "OutcomeEnum": "grader.models.Outcome",
        "NodeKindEnum": "grader.models.NodeKind",
        "EventKindEnum": "grader.events.EventKind",
        "TrackEnum": "grader.models.Track",
        "ScopeEnum": "grader.models.Scope",
        "RegradeStateEnum": "grader.models.RegradeState",
        "RegradeItemStateEnum": "grader.models.RegradeItemState",
        "RegradeScopeEnum": "grader.models.RegradeScope",
    },
}

# --- workers --------------------------------------------------------------------------------
# The key of the worker that `./run` starts; others are registered with `manage.py worker add`.
LOCAL_WORKER_KEY = load_worker_key(DATA_DIR)

# --- grading: every limit with its unit in the name --------------------------------------------
GRADING = {
    "HEARTBEAT_TIMEOUT_SECONDS": read("LEARNML_HEARTBEAT_TIMEOUT_SECONDS", 30),
    # The workers read the same variable.
    "HEARTBEAT_INTERVAL_SECONDS": read("LEARNML_HEARTBEAT_SECONDS", 5),
    "MAX_GRADING_ATTEMPTS": 3,
    # How often nodes that lost their device may return a job; that costs no attempt.
    "MAX_RETURNS": 5,
    # Pause after a job was returned twice, then doubling: a node whose only device just failed
    # would take it again and again until it notices, and the job would be given up.
    "RETURN_PAUSE_SECONDS": 15,
    "SWEEP_INTERVAL_SECONDS": read("LEARNML_SWEEP_INTERVAL_SECONDS", 15),
    "OUTBOX_INTERVAL_SECONDS": read("LEARNML_OUTBOX_INTERVAL_SECONDS", 5),
    "OUTBOX_BATCH_SIZE": 100,
    "SUBMISSIONS_PER_MINUTE": read("LEARNML_SUBMISSIONS_PER_MINUTE", 30),
    "MAX_OPEN_SUBMISSIONS_PER_LEARNER": read("LEARNML_MAX_OPEN_SUBMISSIONS", 5),
    # More than one, so that a worker has the next one ready while a verdict is recorded.
    "JOBS_ON_QUEUE_PER_LEARNER": read("LEARNML_JOBS_ON_QUEUE_PER_LEARNER", 2),
    "REGRADES_ON_QUEUE": 20,
    "MAX_REGRADE_SUBMISSIONS": 1000,
    "TOKEN_LIFETIME_DAYS": 90,
    # Off: kernels of the CuPy track are graded on a processor, by their results, and not timed.
    "CUPY_REQUIRES_DEVICE": read("LEARNML_CUPY_REQUIRES_DEVICE", False),
    # How long a sent job may stay unclaimed, on top of the queue's own redelivery.
    "RESEND_MARGIN_SECONDS": read("LEARNML_RESEND_MARGIN_SECONDS", 60),
    # Runs that a learner waits for: of public cases, and of a chapter's listings.
    "RUNS_PER_MINUTE": read("LEARNML_RUNS_PER_MINUTE", 20),
    "RUN_WAIT_SECONDS": read("LEARNML_RUN_WAIT_SECONDS", 60),
    # Longer than a run of at most ten seconds, and the delivery of its answer.
    "RUN_SILENCE_SECONDS": read("LEARNML_RUN_SILENCE_SECONDS", 25),
    # Graded work of deleted accounts, without names; 0 deletes it with the account.
    "DELETED_WORK_DAYS": read("LEARNML_DELETED_WORK_DAYS", 30),
    "DELETED_WORK_INTERVAL_SECONDS": 600,
    "RUN_RETENTION_HOURS": read("LEARNML_RUN_RETENTION_HOURS", 24),
}
# The longest of any worker.
QUEUE_HARD_TIME_LIMIT_SECONDS = read(
    "LEARNML_TASK_TIME_LIMIT_SECONDS", None
) or hard_time_limit_seconds(QUEUE_GPU)
QUEUE_VISIBILITY_TIMEOUT_SECONDS = (
    read("LEARNML_VISIBILITY_TIMEOUT_SECONDS", None) or visibility_timeout_seconds()
)

LOGGING = configuration(
    {"visitors": {"()": "learnml.logs.NoTracebackOfVisitors"}},
    level=read("LEARNML_LOG_LEVEL", "INFO"),
)
