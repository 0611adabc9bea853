"""Kombu's transport over Redis, hardened against queue entries that are not messages.

Whoever may write to a queue can put anything there, and with Kombu's own transport each such entry
ends the process that takes it off, on the site or on a worker.
"""

from __future__ import annotations

import logging
from queue import Empty
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, redis

logger = logging.getLogger(__name__)


class QoS(redis.QoS):
    """What was taken off a queue and not acknowledged: goes back there, if it is a message."""

    def restore_by_tag(self, tag: Any, client: Any = None, leftmost: bool = False) -> None:
        try:
            super().restore_by_tag(tag, client, leftmost)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            # If it stayed there, it would end every worker at its start.
            self._remove_from_indices(tag).execute()  # type: ignore[attr-defined]
            _dropped(error)


class Channel(redis.Channel):
    """Drops what it cannot read, and says so."""

    QoS = QoS

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[misc]
        except (ValueError, RecursionError) as error:
            # Neither UTF-8 nor JSON; it has been taken off the queue.
            _dropped(error)
            raise Empty from error

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        try:
            return super()._get(queue)
        except (ValueError, RecursionError) as error:
            _dropped(error)
            raise Empty from error


class Transport(redis.Transport):
    """Hands on what looks like a message, and nothing else."""

    Channel = Channel

    def _deliver(self, message: Any, queue: str | None) -> None:
        if _is_message(message):
            super()._deliver(message, queue)
        else:
            _dropped("it is JSON of another kind")


def use() -> None:
    """Have every connection to Redis use it."""
    for name in ("redis", "rediss"):
        TRANSPORT_ALIASES[name] = f"{__name__}:{Transport.__name__}"


def _is_message(found: Any) -> bool:
    """Return whether it has all that kombu asks of a message before it asks what it is about."""
    if not isinstance(found, dict) or not isinstance(found.get("headers", {}), dict):
        return False
    properties = found.get("properties")
    if not isinstance(properties, dict) or not isinstance(properties.get("delivery_tag"), str):
        return False
    place = properties.get("delivery_info")
    names = [place.get("exchange"), place.get("routing_key")] if isinstance(place, dict) else [None]
    return all(isinstance(name, str) for name in names) and _body_can_be_read(found, properties)


def _body_can_be_read(found: dict[str, Any], properties: dict[str, Any]) -> bool:
    if not isinstance(found.get("body"), str):
        return False
    try:
        if encoding := properties.get("body_encoding"):
            redis.Channel.codecs[encoding].decode(found["body"])
    except (KeyError, TypeError, ValueError):
        return False
    return True


def _dropped(reason: object) -> None:
    logger.error("Something on the queue is no message, and was dropped: %s", reason)
