"""A cache that may fail: with Redis down, pages still work, only slower and less limited.

It holds counters and times, as JSON. Django would pickle them, and unpickling runs code chosen by
the writer: workers, which run learners' code, reach the same server.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)


def _tolerate(name: str, fallback: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: RedisCache, *args: Any, **kwargs: Any) -> Any:
        try:
            return getattr(RedisCache, name)(self, *args, **kwargs)
        except RedisError as error:
            logger.warning("The cache is not reachable (%s); going on without it.", error)
            return fallback(*args, **kwargs)

    method.__name__ = name
    return method


class JsonSerializer:
    """Values as JSON; integers as themselves, which Redis can increment."""

    def dumps(self, value: Any) -> int | bytes:
        return value if type(value) is int else json.dumps(value).encode()

    def loads(self, data: bytes) -> Any:
        return json.loads(data)


class TolerantRedisCache(RedisCache):
    """Django's Redis cache with JSON, where an unreachable server acts as an empty cache."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        options = {"serializer": JsonSerializer, **params.get("OPTIONS", {})}
        super().__init__(server, {**params, "OPTIONS": options})

    add = _tolerate("add", lambda *a, **k: True)
    get = _tolerate("get", lambda key, default=None, **k: default)
    set = _tolerate("set", lambda *a, **k: None)
    touch = _tolerate("touch", lambda *a, **k: False)
    delete = _tolerate("delete", lambda *a, **k: False)
    get_many = _tolerate("get_many", lambda *a, **k: {})
    set_many = _tolerate("set_many", lambda *a, **k: [])
    has_key = _tolerate("has_key", lambda *a, **k: False)
    incr = _tolerate("incr", lambda key, delta=1, **k: delta)

    def clear(self) -> None:
        """Delete this cache's keys only.

        Django would flush the server's whole database, which may hold the queue too.
        """
        client = self._cache.get_client(write=True)
        try:
            for key in client.scan_iter(match=f"{self.key_prefix}:*", count=1000):
                client.delete(key)
        except RedisError as error:
            logger.warning("The cache is not reachable (%s); it was not cleared.", error)
