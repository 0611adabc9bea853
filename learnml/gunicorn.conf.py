"""The web server: threaded workers; the same for `./run` and in a container."""

import logging
import os
import sys

from learnml.environment import BadSetting, check_all, read, script_name

try:
    check_all()
except BadSetting as error:
    sys.exit(str(error))

# gunicorn makes a rule of a variable of this name and answers nothing that begins otherwise, no
# probe either. The application takes the path off by itself, and knows it by the other name.
os.environ["LEARNML_SCRIPT_NAME"] = script_name()
os.environ.pop("SCRIPT_NAME", None)

wsgi_app = "learnml.wsgi"
_host = read("LEARNML_HOST", "127.0.0.1")
_port = read("PORT", 8000)
bind = f"[{_host}]:{_port}" if ":" in _host else f"{_host}:{_port}"
worker_class = "learnml.receiving.ReceivingWorker"
workers = read("LEARNML_WEB_WORKERS", 2)
threads = read("LEARNML_WEB_THREADS", 8)
# One import for all workers: a quicker start, and a dead worker is replaced at once.
preload_app = True
# For a process that does not come back to Python; see `learnml.middleware.compute_limit` for all
# others.
timeout = 30
graceful_timeout = 5
keepalive = 5
# Heartbeat files in memory: a slow disk must not look like a hung worker.
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108
limit_request_line = 4094
loglevel = read("LEARNML_WEB_LOG_LEVEL", "warning")
accesslog = "-" if read("LEARNML_ACCESS_LOG", False) else None
errorlog = "-"
logger_class = "learnml.web_server_log.WebServerLogger"
control_socket_disable = True


def when_ready(server):  # type: ignore[no-untyped-def]
    """Run in the first process, before the others are made from it."""
    if server.app.app_uri == wsgi_app:
        # Not above: it needs Django, which has been set up by now.
        from learnml.warm_up import warm_up

        warm_up(server.app.wsgi())


def worker_exit(server, worker):  # type: ignore[no-untyped-def]
    """Run as the last thing in a process that answers requests."""
    error = sys.exc_info()[1]
    if isinstance(error, SystemExit) and error.code == 0:
        # Wait for running requests; the arbiter does not wait for long.
        worker.tpool.shutdown(wait=True)
        logging.shutdown()
        # Tearing down the interpreter takes seconds and serves no purpose.
        os._exit(0)
