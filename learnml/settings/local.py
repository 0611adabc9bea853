"""What `./run` uses: embedded services, plain HTTP on this machine."""

from __future__ import annotations

from .base import *  # noqa: F403
from .base import DATA_DIR, read
from .secret import load_secret_key

# Kept in the data folder by the first start, unless the operator gives one.
SECRET_KEY_IN_DATA_DIR = not read("LEARNML_SECRET_KEY", "")
SECRET_KEY = read("LEARNML_SECRET_KEY", "") or load_secret_key(DATA_DIR)
ALLOWED_HOSTS = read("LEARNML_ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
DEMO_ACCOUNTS_ALLOWED = True
