"""A real PostgreSQL in a temporary folder, for a `with` block or for a command:

python -m tests.platform.postgres pytest courses    runs pytest with DATABASE_URL set to it
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.platform.instance import free_port

USER = "postgres"
START_SECONDS = "120"
INSTALL_TEXT = "PostgreSQL is not installed. As root: apt-get install postgresql"


def program(name: str) -> str:
    """Return the newest installed PostgreSQL program of this name.

    Raises:
        FileNotFoundError: there is none.
    """
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name))
    for folder in reversed(folders):
        if (folder / name).exists():
            return str(folder / name)
    if found := shutil.which(name):
        return found
    raise FileNotFoundError(INSTALL_TEXT)


def as_server_user(*command: str) -> list[str]:
    """Return the command as it must be run: PostgreSQL refuses to run as root."""
    return ["runuser", "-u", USER, "--", *command] if os.getuid() == 0 else list(command)


@contextmanager
def postgres_server() -> Iterator[str]:
    """Start a server on a free local port; yield its DATABASE_URL; remove it with all its data."""
    folder = Path(tempfile.mkdtemp(prefix="learnml-postgres-"))
    data = folder / "data"
    port = free_port()
    if os.getuid() == 0:
        account = pwd.getpwnam(USER)
        os.chown(folder, account.pw_uid, account.pw_gid)
    options = f"-p {port} -c listen_addresses=127.0.0.1 -k {folder} -c fsync=off"

    def run(*command: str) -> None:
        subprocess.run(as_server_user(*command), check=True, stdout=subprocess.DEVNULL, cwd=folder)

    try:
        run(program("initdb"), "-D", str(data), "-U", "learnml", "-A", "trust", "--no-sync")
        log = str(folder / "log")
        start = ("start", "-D", str(data), "-w", "-t", START_SECONDS, "-l", log, "-o", options)
        try:
            run(program("pg_ctl"), *start)
            run(program("createdb"), "-h", "127.0.0.1", "-p", str(port), "-U", "learnml", "learnml")
            yield f"postgres://learnml@127.0.0.1:{port}/learnml"
        finally:
            run(program("pg_ctl"), "stop", "-D", str(data), "-m", "immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main(command: list[str]) -> int:
    """Run the command with DATABASE_URL set to a fresh server. Return its exit code.

    Asked to stop, it ends the command and leaves no server behind.
    """
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    with postgres_server() as url:
        return subprocess.run(command, env={**os.environ, "DATABASE_URL": url}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
