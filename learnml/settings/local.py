"""What `./run` uses: embedded services, plain HTTP on this machine."""

from __future__ import annotations

from .base import *  # noqa: F403
from .base import DATA_DIR, env
from .secret import load_or_make_secret_key

SECRET_KEY = env.str("LEARNML_SECRET_KEY", default="") or load_or_make_secret_key(DATA_DIR)
ALLOWED_HOSTS = env.list("LEARNML_ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
DEMO_ACCOUNTS_ALLOWED = True
