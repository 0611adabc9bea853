"""Checks before anything starts: data folder, one instance per data folder, free port."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from .config import Config, StartError

# Read by the worker, see gpu_worker.sandbox.isolation.
UNSAFE_DEVELOPMENT = "LEARNML_UNSAFE_DEVELOPMENT"
ALLOW_NO_NAMESPACES = "LEARNML_ALLOW_NO_NAMESPACES"
# How long the watchdog of a killed supervisor may need to end what was left.
LEFTOVER_WAIT_SECONDS = 12.0


def prepare_data_dir(data_dir: Path) -> None:
    """Create the data folder, for its owner alone, and check that it is writable.

    Raises:
        StartError: it cannot be created or written.
    """
    try:
        existed = data_dir.is_dir()
        data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not existed or stat.S_IMODE(data_dir.stat().st_mode) & 0o077:
            data_dir.chmod(0o700)
        probe = data_dir / f".write-test-{os.getpid()}"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise StartError(
            f"The data folder {data_dir} cannot be used: {error.strerror}. Make it writable, or "
            "name another one: LEARNML_DATA=/path/to/folder ./run"
        ) from error


def lock_data_dir(config: Config) -> IO[str]:
    """Lock the data folder for this process, for as long as the returned file is open.

    Raises:
        StartError: another LearnML uses the folder.
    """
    path = config.data_dir / "run.lock"
    file = path.open("a+")
    deadline = time.monotonic() + LEFTOVER_WAIT_SECONDS
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            owner = _read_owner(path)
            if _is_alive(owner.get("pid")) or time.monotonic() > deadline:
                file.close()
                raise StartError(_already_running(config, owner)) from None
            time.sleep(0.1)
    file.truncate(0)
    file.write(json.dumps({"pid": os.getpid(), "url": config.url}))
    file.flush()
    return file


def _read_owner(path: Path) -> dict[str, object]:
    try:
        owner = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return owner if isinstance(owner, dict) else {}


def _is_alive(pid: object) -> bool:
    if not isinstance(pid, int):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _already_running(config: Config, owner: dict[str, object]) -> str:
    where = f" at {owner['url']}" if owner.get("url") else ""
    process = f" (process {owner['pid']})" if owner.get("pid") else ""
    return (
        f"LearnML is already running on the data folder {config.data_dir}{where}{process}. "
        "Use that one, stop it with Ctrl-C, or start a second one on its own folder and port: "
        "LEARNML_DATA=/path/to/folder PORT=8001 ./run"
    )


def check_port_free(config: Config) -> None:
    """Check that the web server will be able to listen.

    Raises:
        StartError: the port is taken, or may not be used.
    """
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((config.host, config.port))
        except OSError as error:
            raise StartError(_port_text(config, error)) from error


def _port_text(config: Config, error: OSError) -> str:
    other = config.port + 1 if 1024 <= config.port < 65535 else 8001
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {config.port} is in use by another program. "
            f"Choose another port: PORT={other} ./run"
        )
    if error.errno == errno.EACCES:
        return f"Port {config.port} needs special rights. Choose another: PORT={other} ./run"
    return (
        f"LearnML cannot listen on {config.host}, port {config.port}: {error.strerror}. "
        "Check LEARNML_HOST and PORT."
    )


def isolation_warnings(environ: Mapping[str, str] | None = None) -> list[str]:
    """Return warnings about the isolation of submissions; the worker itself determines its level.

    Raises:
        StartError: the setting for development without a sandbox is on in production.
    """
    env = os.environ if environ is None else environ
    warnings = []
    if env.get(UNSAFE_DEVELOPMENT) == "1":
        if "production" in env.get("DJANGO_SETTINGS_MODULE", "") or env.get("REDIS_URL"):
            raise StartError(
                f"{UNSAFE_DEVELOPMENT}=1 runs submissions without a sandbox; it is for a "
                "developer's own machine, not for production settings or a queue that others "
                "reach. Unset it. docs/how-to/run-the-sandbox.md says what a sandbox needs."
            )
        warnings.append(
            f"{UNSAFE_DEVELOPMENT}=1: where this machine offers no sandbox, submissions run "
            "without one. Grade nothing but your own code."
        )
    if env.get(ALLOW_NO_NAMESPACES) == "1":
        warnings.append(
            f"{ALLOW_NO_NAMESPACES}=1: where this machine offers no namespaces, submissions run "
            "with two walls less."
        )
    if os.getuid() == 0:
        warnings.append("LearnML runs as root here. An ordinary account is safer.")
    return warnings
