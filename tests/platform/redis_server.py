"""A real redis-server on a free local port, with its data in a temporary folder."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.platform.instance import PATIENCE_SECONDS, free_port, wait_for, with_this_process


def answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
    except OSError:
        return False


@contextmanager
def redis_server(folder: Path, port: int = 0) -> Iterator[str]:
    """Start the server; yield its REDIS_URL.

    Raises:
        FileNotFoundError: redis-server is not installed.
    """
    port = port or free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    options += ["--appendonly", "yes", "--save", "", "--loglevel", "warning"]
    with running(options):
        wait_for(lambda: answers(port), PATIENCE_SECONDS, "redis-server to answer")
        yield f"redis://127.0.0.1:{port}/0"


@contextmanager
def running(options: list[str]) -> Iterator[None]:
    """Run Debian's redis-server with these options, for as long as the block takes.

    Raises:
        FileNotFoundError: redis-server is not installed.
    """
    program = shutil.which("redis-server")
    if program is None:
        raise FileNotFoundError(
            "redis-server is not installed. As root: apt-get install redis-server"
        )
    process = subprocess.Popen(
        [*with_this_process(), program, *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)
