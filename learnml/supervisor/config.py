"""The configuration of `up`, from the environment, checked once at the start."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from learnml import environment
from learnml.queue_socket import cache_socket_path, queue_socket_path

DEFAULT_PORT = 8000
BASE_DIR = Path(__file__).resolve().parent.parent.parent


class StartError(Exception):
    """LearnML cannot start; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Config:
    """Paths and addresses. Addresses of services are empty for the embedded ones."""

    base_dir: Path
    data_dir: Path
    host: str
    port: int
    script_name: str
    redis_url: str
    database_url: str
    queue_socket: Path
    cache_url: str
    cache_socket: Path

    @property
    def url(self) -> str:
        """The address to open in a browser on this machine."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::", "") else self.host  # noqa: S104
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}{self.script_name}/"

    @property
    def uses_sqlite_file(self) -> bool:
        return not self.database_url


def read_config(environ: Mapping[str, str] | None = None) -> Config:
    """Read the configuration.

    Raises:
        StartError: a variable cannot be used, here or in a part that is to be started.
    """
    env = os.environ if environ is None else environ
    try:
        environment.check_all(env)
    except environment.BadSetting as error:
        raise StartError(str(error)) from error
    data_dir = Path(env.get("LEARNML_DATA") or BASE_DIR / "var").expanduser().resolve()
    socket = env.get("LEARNML_QUEUE_SOCKET", "")
    return Config(
        base_dir=BASE_DIR,
        data_dir=data_dir,
        host=env.get("LEARNML_HOST") or "127.0.0.1",
        port=environment.read("PORT", DEFAULT_PORT, env),
        script_name=environment.script_name(env),
        redis_url=env.get("REDIS_URL", ""),
        database_url=env.get("DATABASE_URL", ""),
        queue_socket=Path(socket) if socket else queue_socket_path(data_dir),
        cache_url=env.get("LEARNML_CACHE_URL", ""),
        cache_socket=cache_socket_path(data_dir),
    )
