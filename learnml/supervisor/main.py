"""`manage.py up`: the order of a start, and its output."""

from __future__ import annotations

import json
import os
import shlex
import socket
import sys
import time
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

from learnml.environment import LOCAL_SETTINGS
from learnml.settings.secret import keep_secret_key, keep_worker_key

from . import embedded_servers, fingerprint, preflight
from .config import Config, StartError, read_config
from .embedded_servers import EmbeddedServer
from .output import Output
from .processes import (
    PREPARE_COMMAND,
    ProcessSpec,
    python_processes,
    site_environment,
    with_interpreter,
)
from .supervisor import Stopped, Supervisor

QUEUE_START_SECONDS = 10.0
PAGE_TIMEOUT_SECONDS = 5.0
POLL_SECONDS = 0.05
ERROR_POLL_SECONDS = 2.0
# The other parts wait for the first page, but not for ever.
LATEST_START_SECONDS = 8.0
USAGE = """Usage: ./run   (or: python manage.py up)

Starts the queue, the web site, the grading worker, the control worker and the scheduler, and
prints the address. Ctrl-C stops everything. ./run --version prints the version and starts nothing.

  PORT                    port of the web site (default 8000)
  LEARNML_HOST            address to listen on (default 127.0.0.1)
  LEARNML_DATA            folder for database and queue (default var/)
  LEARNML_DEMO_PASSWORD   password of the demo accounts made at the first start
  DATABASE_URL            PostgreSQL instead of the SQLite file in the data folder
  REDIS_URL               Redis or Valkey instead of the embedded queue
"""


def main(arguments: list[str]) -> int:
    """Run until stopped. Return the exit code."""
    if arguments:
        wants_help = arguments[0] in ("-h", "--help")
        stream = sys.stdout if wants_help else sys.stderr
        stream.write(USAGE if wants_help else f"Unknown argument: {arguments[0]}\n\n{USAGE}")
        return 0 if wants_help else 2
    output = Output(sys.stdout)
    try:
        config = read_config()
        preflight.prepare_data_dir(config.data_dir)
        with preflight.lock_data_dir(config):
            preflight.check_port_free(config)
            with Supervisor(config, output) as supervisor:
                return _run(config, output, supervisor)
    except StartError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except Stopped:
        return 0
    except BrokenPipeError:
        # The output was closed, as in `./run | head`; everything has been stopped above.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(config: Config, output: Output, supervisor: Supervisor) -> int:
    started_at = time.monotonic()
    for line in preflight.isolation_warnings():
        output.say(f"Note: {line}")
    _start_services(config, supervisor)
    _keep_secret_key(config)
    keep_worker_key(config.data_dir)
    if not _is_prepared(config):
        output.say("Preparing the database and the pages ...")
        command = with_interpreter(PREPARE_COMMAND)
        if supervisor.run_once(ProcessSpec("prepare", command, site_environment(config))) != 0:
            raise StartError(
                "The database could not be prepared; the lines above say why. Nothing was started."
            )
    specs = python_processes(config)
    for spec in specs:
        if spec.early:
            supervisor.add(spec)
    late = [spec for spec in specs if not spec.early]
    if _wait_for_page(config, output, supervisor, LATEST_START_SECONDS):
        supervisor.is_up = True
        _announce(config, output, started_at)
        _add(supervisor, late)
    else:
        _add(supervisor, late)
        if _wait_for_page(config, output, supervisor, float("inf")):
            supervisor.is_up = True
            _announce(config, output, started_at)
    supervisor.run()
    output.say("Stopping ...")
    return 0


def _add(supervisor: Supervisor, specs: list[ProcessSpec]) -> None:
    for spec in specs:
        if not supervisor.stopping:
            supervisor.add(spec)


def _start_services(config: Config, supervisor: Supervisor) -> None:
    """Start the queue and the cache, unless they are given."""
    if config.redis_url:
        embedded_servers.check_given(config.redis_url)
    if config.redis_url and config.cache_url:
        return
    program = embedded_servers.find_server()
    if not config.cache_url:
        _start_server(embedded_servers.cache_server(config, program), supervisor)
    if not config.redis_url:
        queue = embedded_servers.queue_server(config, program)
        _start_server(queue, supervisor)
        _wait_for_server(queue, supervisor)


def _start_server(server: EmbeddedServer, supervisor: Supervisor) -> None:
    server.make_folders()
    supervisor.add(server.spec())


def _wait_for_server(server: EmbeddedServer, supervisor: Supervisor) -> None:
    deadline = time.monotonic() + QUEUE_START_SECONDS
    while not embedded_servers.answers(server.socket):
        supervisor.turn(0.01)
        if supervisor.stopping:
            raise Stopped
        if time.monotonic() > deadline:
            raise StartError(
                f"The queue server {server.program} does not answer on {server.socket}; the lines "
                f"above may say why. If its files in {server.folder} are damaged, remove them: "
                "submissions are in the database and are sent again."
            )


def _keep_secret_key(config: Config) -> None:
    """Make all parts, now and after the next start, sign with one key."""
    settings = os.environ.get("DJANGO_SETTINGS_MODULE") or LOCAL_SETTINGS
    if settings == LOCAL_SETTINGS and not os.environ.get("LEARNML_SECRET_KEY"):
        keep_secret_key(config.data_dir)


def _is_prepared(config: Config) -> bool:
    static_root = Path(os.environ.get("LEARNML_STATIC_ROOT") or config.data_dir / "static")
    static_digest = fingerprint.static_fingerprint(config.base_dir)
    if not config.uses_sqlite_file or not fingerprint.static_is_prepared(
        static_root, static_digest
    ):
        return False
    return fingerprint.sqlite_is_prepared(
        config.data_dir / "db.sqlite3", fingerprint.database_fingerprint(config.base_dir)
    )


def _wait_for_page(config: Config, output: Output, supervisor: Supervisor, seconds: float) -> bool:
    """Wait for the first page to succeed; report a server error once."""
    deadline = time.monotonic() + seconds
    pause = POLL_SECONDS
    next_look = 0.0
    while (now := time.monotonic()) < deadline and not supervisor.stopping:
        supervisor.turn(POLL_SECONDS)
        if now < next_look or not supervisor.is_running("web"):
            continue
        status = page_status(config)
        if status is not None and status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return True
        if status is not None and pause == POLL_SECONDS:
            output.say(f"The first page answers with the error {status}; the web's lines say why.")
            pause = ERROR_POLL_SECONDS
        next_look = time.monotonic() + pause
    return False


def page_status(config: Config) -> int | None:
    """Request the first page as a browser would. Return its status, None without a response."""
    address = urlsplit(config.url)
    try:
        with socket.create_connection(
            (address.hostname or "127.0.0.1", config.port), timeout=PAGE_TIMEOUT_SECONDS
        ) as connection:
            connection.sendall(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
            words = connection.recv(64).split(b" ")
    except OSError:
        return None
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else None


def _announce(config: Config, output: Output, started_at: float) -> None:
    output.say()
    output.say(f"LearnML is ready after {time.monotonic() - started_at:.1f} s: {config.url}")
    demo = _demo_accounts(config.data_dir)
    if demo:
        names, password = demo
        output.say(f"  Demo accounts: {', '.join(names)}; password: {password}")
        output.say(f"  Admin (author, grader): {config.url}admin/")
    output.say(f"  For an account with all rights: {command_line(config, 'createsuperuser')}")
    output.say("  Ctrl-C stops everything.")
    output.say()


def command_line(config: Config, command: str, environ: Mapping[str, str] | None = None) -> str:
    """Return the shell command for a management command on this data."""
    env = os.environ if environ is None else environ
    settings = env.get("DJANGO_SETTINGS_MODULE") or LOCAL_SETTINGS
    named = {} if settings == LOCAL_SETTINGS else {"DJANGO_SETTINGS_MODULE": settings}
    if env.get("LEARNML_DATA"):
        named["LEARNML_DATA"] = str(config.data_dir)
    # Values with passwords are not printed.
    secret = ["DATABASE_URL"] if config.database_url else []
    if settings != LOCAL_SETTINGS:
        secret.append("LEARNML_SECRET_KEY")
    variables = [f"{name}={shlex.quote(value)}" for name, value in named.items()]
    line = " ".join([*variables, ".venv/bin/python manage.py", command])
    return f"{line}   (with the same {' and '.join(secret)})" if secret else line


def _demo_accounts(data_dir: Path) -> tuple[list[str], str] | None:
    try:
        demo = json.loads((data_dir / "demo_accounts.json").read_text())
        return [str(name) for name in demo["usernames"]], str(demo["password"])
    except (OSError, ValueError, LookupError, TypeError):
        return None
