"""The web server: gthread workers; the same for `./run` and in a container."""

import os

wsgi_app = "learnml.wsgi"
_host = os.environ.get("LEARNML_HOST", "127.0.0.1")
_port = os.environ.get("PORT", "8000")
bind = f"[{_host}]:{_port}" if ":" in _host else f"{_host}:{_port}"
worker_class = "gthread"
workers = int(os.environ.get("LEARNML_WEB_WORKERS", "2"))
threads = int(os.environ.get("LEARNML_WEB_THREADS", "8"))
# One import for all workers: a quicker start, and a dead worker is replaced at once.
preload_app = True
timeout = 60
graceful_timeout = 5
keepalive = 5
# Heartbeat files in memory: a slow disk must not look like a hung worker.
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108
limit_request_line = 4094
loglevel = os.environ.get("LEARNML_WEB_LOG_LEVEL", "warning")
accesslog = "-" if os.environ.get("LEARNML_ACCESS_LOG") == "1" else None
errorlog = "-"
control_socket_disable = True
