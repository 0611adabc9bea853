"""The cache reads data, never code, whoever wrote it: workers reach the same server."""

from __future__ import annotations

import pickle
import time
from pathlib import Path
from typing import Any

import pytest
from django.core.cache.backends.redis import RedisCacheClient

from learnml.cache import JsonSerializer, TolerantRedisCache


class Touch:
    """Makes a file when its pickle is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


@pytest.mark.parametrize("value", [0, 7, -1, True, False, None, "é", 1.5, [time.time()], {"a": []}])
def test_what_is_written_is_read_again(value: object) -> None:
    serializer = JsonSerializer()
    written = serializer.dumps(value)
    stored = str(written).encode() if isinstance(written, int) else written
    read = serializer.loads(stored)
    assert (read, type(read)) == (value, type(value))


def test_pickle_of_somebody_else_is_not_run(tmp_path: Path) -> None:
    class Server:
        def get(self, key: str) -> bytes:
            return pickle.dumps(Touch(tmp_path / "run"))

    cache = TolerantRedisCache("redis://127.0.0.1:1/0", {})
    assert isinstance(cache._cache, RedisCacheClient)
    cache._cache.get_client = lambda *args, **kwargs: Server()  # type: ignore[method-assign]
    with pytest.raises(ValueError, match="decode"):
        cache.get("key")
    assert not (tmp_path / "run").exists()
    pickle.loads(Server().get("key"))  # noqa: S301  what must not happen above
    assert (tmp_path / "run").exists()
