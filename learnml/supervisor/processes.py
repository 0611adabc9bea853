"""The parts and their commands, for the supervisor and docker-compose.yml."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from learnml.environment import LOCAL_SETTINGS
from learnml.settings.secret import load_worker_key

from .config import Config

# The commands as docker-compose.yml has them; the supervisor runs the same programs with
# `python -m`, so that they are those of its own virtual environment.
WEB_COMMAND = ("gunicorn", "learnml.wsgi", "-c", "learnml/gunicorn.conf.py")
WORKER_CPU_COMMAND = (
    *("celery", "--quiet", "-A", "gpu_worker.celery_app", "worker", "-Q", "cpu", "-c", "1"),
    *("--hostname", "cpu@%h", "--loglevel", "WARNING", "--without-gossip", "--without-mingle"),
)
WORKER_GPU_COMMAND = (
    *("celery", "--quiet", "-A", "gpu_worker.celery_app", "worker", "-Q", "gpu", "-c", "1"),
    *("--hostname", "gpu@%h", "--loglevel", "WARNING", "--without-gossip", "--without-mingle"),
)
CONTROL_COMMAND = (
    *("celery", "--quiet", "-A", "learnml", "worker", "-Q", "results,control", "-c", "1"),
    *("--hostname", "control@%h", "--loglevel", "WARNING", "--without-gossip", "--without-mingle"),
)
SCHEDULER_COMMAND = ("celery", "--quiet", "-A", "learnml", "beat", "--loglevel", "WARNING")
PREPARE_COMMAND = ("python", "manage.py", "prepare")

# A worker runs learners' code: the queue's address is the only secret that it gets.
SITE_ONLY_VARIABLES = frozenset(
    {
        *("DATABASE_URL", "DJANGO_SETTINGS_MODULE", "LEARNML_CACHE_URL", "LEARNML_DATA"),
        *("LEARNML_HOST", "PORT", "SCRIPT_NAME"),
    }
)
SITE_ONLY_PREFIXES = (
    *("LEARNML_SECRET", "LEARNML_DEMO", "LEARNML_EMAIL", "LEARNML_ALLOWED", "LEARNML_TRUSTED"),
    *("LEARNML_STATIC", "LEARNML_FORMER", "LEARNML_SCRIPT"),
)


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """One part. `early` parts start at once, the others after the first page.

    `not_shown`: output lines that contain one of these are dropped as noise.
    """

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(repr=False)
    early: bool = False
    not_shown: tuple[str, ...] = ()


def with_interpreter(command: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command run by this interpreter, whatever PATH says."""
    if command[0] == "python":
        return (sys.executable, *command[1:])
    return (sys.executable, "-m", *command)


def site_environment(config: Config, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of web, control worker and scheduler."""
    environment = {
        name: value
        for name, value in (os.environ if environ is None else environ).items()
        # Empty means unset: the engine would take it for a value.
        if value or not name.startswith("LEARNML_")
    }
    environment |= {
        "DJANGO_SETTINGS_MODULE": environment.get("DJANGO_SETTINGS_MODULE") or LOCAL_SETTINGS,
        "LEARNML_DATA": str(config.data_dir),
        "LEARNML_HOST": config.host,
        "PORT": str(config.port),
        "PYTHONUNBUFFERED": "1",
        # The supervisor says it once, in one line.
        "PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges",
    }
    if not config.redis_url:
        environment["LEARNML_QUEUE_SOCKET"] = str(config.queue_socket)
    if not config.cache_url:
        environment["LEARNML_CACHE_URL"] = f"unix://{config.cache_socket}"
    return environment


def worker_environment(config: Config, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a grading worker: no database, no secret key, no Django.

    It signs with the key made for it, unless the operator gives another.
    """
    return {"LEARNML_WORKER_KEY": load_worker_key(config.data_dir)} | {
        name: value
        for name, value in site_environment(config, environ).items()
        if name not in SITE_ONLY_VARIABLES and not name.startswith(SITE_ONLY_PREFIXES)
    }


def python_processes(config: Config) -> list[ProcessSpec]:
    """Return every part except the queue, in starting order."""
    site = site_environment(config)
    return [
        ProcessSpec("web", with_interpreter(WEB_COMMAND), site, early=True),
        ProcessSpec("worker", with_interpreter(WORKER_CPU_COMMAND), worker_environment(config)),
        ProcessSpec("control", with_interpreter(CONTROL_COMMAND), site),
        ProcessSpec("scheduler", with_interpreter(SCHEDULER_COMMAND), site),
    ]
